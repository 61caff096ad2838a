import { Code } from '@mantine/core'

/** JSON, or what holds some, as it stands; broken wherever the width asks for it. */
export function Json({ text }: { text: string }) {
  return (
    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', fontSize: 'var(--mantine-font-size-sm)' }}>
      {text}
    </Code>
  )
}
