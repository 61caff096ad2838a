import { Button, Group } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { download } from '../../api/download.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { esimTexts } from '../esim-texts.ts'

/**
 * Saves all orders that the filters find as one file; it may take long, and can be stopped.
 *
 * @param props.asked the query of the platform's export
 */
export function SaveOrders({ asked, isDisabled }: { asked: Record<string, string>; isDisabled: boolean }) {
  const { orders: texts } = useTexts(esimTexts)
  const notify = useNotify()
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const saving = useMutation({
    mutationFn() {
      abort.current = new AbortController()
      const path = `/portal/esim/orders.csv?${new URLSearchParams(asked)}`
      return download(path, 'esim-orders.csv', abort.current.signal)
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
          {texts.cancelSave}
        </Button>
      )}
    </Group>
  )
}
