import { Alert, Button, Stack } from '@mantine/core'

/** Says in a form that somebody else has saved first, and offers to load what is stored now. */
export function StaleForm(props: { title: string; text: string; action: string; onLoad: () => void }) {
  const { title, text, action, onLoad } = props
  return (
    <Alert color="orange" role="alert" title={title}>
      <Stack align="flex-start" gap="sm">
        {text}
        <Button variant="default" onClick={onLoad}>
          {action}
        </Button>
      </Stack>
    </Alert>
  )
}
