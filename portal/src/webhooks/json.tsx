import { Code } from '@mantine/core'

/** Text with JSON, unchanged. Lines may break anywhere. */
export function Json({ text }: { text: string }) {
  return (
    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', fontSize: 'var(--mantine-font-size-sm)' }}>
      {text}
    </Code>
  )
}
