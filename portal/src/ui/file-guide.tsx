import { Button, Code, Collapse, Group, Stack, Table } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { saveText } from '../api/download.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { uiTexts } from './texts.ts'

export type Guide = {
  /** A description of each column by its name in the header, in the order of the template. */
  columns: Readonly<Record<string, string>>
  /** A valid example file: `rows` follow the header. No value may need quotes. */
  template: { fileName: string; rows: readonly (readonly string[])[] }
}

/** Help beside an upload: the columns of the file, and a template to download. */
export function FileGuide({ guide }: { guide: Guide }) {
  const texts = useTexts(uiTexts)
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { columns, template } = guide
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => saveText(template.fileName, templateText(guide))}
        >
          {texts.upload.template}
        </Button>
        <Button
          size="compact-sm"
          variant="subtle"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {texts.upload.columns}
        </Button>
      </Group>
      <Collapse id={id} expanded={isOpen}>
        <Table verticalSpacing={4} aria-label={texts.upload.columns}>
          <Table.Tbody>
            {Object.entries(columns).map(([name, text]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" fw={400} style={{ verticalAlign: 'top' }}>
                  <Code>{name}</Code>
                </Table.Th>
                <Table.Td>{text}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Collapse>
    </Stack>
  )
}

const templateText = ({ columns, template }: Guide): string =>
  [Object.keys(columns), ...template.rows].map(cells => `${cells.join(',')}\r\n`).join('')
