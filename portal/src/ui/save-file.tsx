import { Button, Group } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { download } from '../api/download.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { useNotify } from './notify.tsx'
import { uiTexts } from './texts.ts'

/**
 * Saves a file that the platform creates. This may take long, and the person can stop it.
 *
 * @param props.path the path of the platform's operation, with its query
 * @param props.name the name of the file, used when the platform gives none
 */
export function SaveFile({ path, name, isDisabled = false }: { path: string; name: string; isDisabled?: boolean }) {
  const { saving: texts } = useTexts(uiTexts)
  const notify = useNotify()
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const saving = useMutation({
    mutationFn() {
      abort.current = new AbortController()
      return download(path, name, abort.current.signal)
    },
    onError: error => abort.current?.signal.aborted || notify.failed(error),
  })
  return (
    <Group gap="xs">
      <Button
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        loading={saving.isPending}
        disabled={isDisabled}
        onClick={() => saving.mutate()}
      >
        {texts.save}
      </Button>
      {saving.isPending && (
        <Button variant="subtle" onClick={() => abort.current?.abort()}>
          {texts.stop}
        </Button>
      )}
    </Group>
  )
}
