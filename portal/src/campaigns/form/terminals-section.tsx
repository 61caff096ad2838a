import { Radio, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { readText } from '../../api/read-text.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import type { SameTexts } from '../../i18n/texts.ts'
import { FileUpload } from '../../ui/file-upload.tsx'
import { none } from '../../ui/values.tsx'
import type { CampaignTerminal } from '../types.ts'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'
import { LongList, shownOfLong } from './long-list.tsx'
import { addedTerminals, type FileError, readTerminalsFile } from './terminals-file.ts'

const maxBytes = 16 * 1024 * 1024
const template = {
  fileName: 'terminals-template.csv',
  rows: [
    ['T-0001', 'Store 1', 'Khreshchatyk 1', 'M-77', 'STORE'],
    ['T-0002', 'Store 2', 'Rynok 10', 'M-77', 'STORE'],
  ],
}

/** The campaign's terminals: those of the merchant in the platform's directory, or a list from a file. */
export function TerminalsSection({ form, isOpen, isByBank, isGrowing }: FormPart & { isGrowing: boolean }) {
  const texts = useTexts(formTexts)
  const { terminalsPlatform } = form.values
  const isLocked = !isOpen('terminalsPlatform')
  // The campaign uses the terminals of the platform's directory, and this can no longer be changed, so there is nothing
  // to enter here.
  if (terminalsPlatform && isLocked) return null
  return (
    <FormSection
      name="terminals"
      title={texts.sections.terminals}
      isOpen={isOpen}
      fields={['terminalsPlatform', 'terminals']}
    >
      <Radio.Group
        label={texts.terminalsFrom}
        error={form.errors.terminalsPlatform}
        value={terminalsPlatform ? 'platform' : 'own'}
        onChange={value => form.setFieldValue('terminalsPlatform', value === 'platform')}
      >
        <Stack gap="xs" mt="xs">
          <Radio
            value="platform"
            label={isByBank ? texts.byBank.platform : texts.platform}
            disabled={isLocked}
            data-path="terminalsPlatform"
          />
          <Radio value="own" label={texts.own} disabled={isLocked} />
        </Stack>
      </Radio.Group>
      {!terminalsPlatform && <OwnTerminals {...{ form, isOpen, isByBank, isGrowing }} />}
    </FormSection>
  )
}

function OwnTerminals({ form, isOpen, isGrowing }: FormPart & { isGrowing: boolean }) {
  const texts = useTexts(formTexts)
  const { terminals } = form.values
  const [error, setError] = useState<unknown>(null)
  const [fileMessage, setFileMessage] = useState<string | null>(null)
  const set = (list: CampaignTerminal[], message: string | null) => {
    form.setFieldValue('terminals', list)
    form.clearFieldError('terminals')
    setFileMessage(message)
  }
  const take = (content: string) => {
    const { terminals: read, errors } = readTerminalsFile(content)
    if (errors.length > 0) {
      const messages = errors.map(error => errorText(error, texts.error))
      throw new ApiError(400, messages, null)
    }
    const before = isGrowing ? terminals : []
    const after = addedTerminals(before, read)
    const added = after.length - before.length
    set(after, texts.added(added, read.length - added))
  }
  const clear = () => {
    set([], null)
    // The pressed button is gone now.
    form.getInputNode('terminals')?.focus()
  }
  const stay = () => setFileMessage(terminals.length > 0 ? texts.terminalsStay(terminals.length) : null)
  const refuse = (reason: unknown) => {
    setError(reason)
    stay()
  }
  const read = async (file: File) => {
    setError(null)
    await readText(file).then(take).catch(refuse)
    return null
  }
  return (
    <Stack gap="sm" tabIndex={-1} data-path="terminals">
      {terminals.length > 0 && (
        <Text size="sm" c="dimmed">
          {isGrowing ? texts.terminalsGrow : texts.terminalsReplace}
        </Text>
      )}
      <FileUpload
        upload={{ fileName: null, share: 0, isSending: false, wasCancelled: false, error, send: read, cancel() {} }}
        hint={texts.file}
        guide={{ columns: texts.columns, template }}
        maxBytes={maxBytes}
        isDisabled={!isOpen('terminals')}
        onRefused={stay}
      />
      {form.errors.terminals && (
        <Text size="sm" c="var(--mantine-color-error)">
          {form.errors.terminals}
        </Text>
      )}
      <LongList
        status={fileMessage ?? texts.terminals(terminals.length)}
        count={terminals.length}
        isDisabled={!isOpen('terminals')}
        onClear={isGrowing ? null : clear}
      >
        <Sample terminals={terminals} />
      </LongList>
    </Stack>
  )
}

function errorText(error: FileError, texts: SameTexts<(typeof formTexts)['en']['error']>): string {
  const { line, kind } = error
  if (kind === 'too-long') return texts[kind](line, error.column, error.maxLength)
  const text = texts[kind]
  return typeof text === 'string' ? text : text(line)
}

function Sample({ terminals }: { terminals: readonly CampaignTerminal[] }) {
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table fz="sm">
        <Table.Tbody>
          {terminals.slice(0, shownOfLong).map(({ terminal_id, terminal_name, terminal_location }) => (
            <Table.Tr key={terminal_id}>
              <Table.Th scope="row">{terminal_id}</Table.Th>
              <Table.Td>{terminal_name ?? none}</Table.Td>
              <Table.Td>{terminal_location ?? none}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
