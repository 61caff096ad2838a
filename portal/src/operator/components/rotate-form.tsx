import { Alert, NativeSelect, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { FormFrame } from '../../ui/form-frame.tsx'
import { oldSecretUntil } from '../../ui/old-secret.ts'
import { useOnce } from '../../ui/use-once.ts'
import { type Credential, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { showSecret } from './secret.tsx'

const overlaps = ['PT0S', 'PT1H', 'PT24H', 'P7D', 'P30D'] as const
type Overlap = (typeof overlaps)[number]

/** Creates a new secret for a credential; the person chooses how long the current one keeps working. */
export function RotateForm({ credential }: { credential: Credential }) {
  const { access: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const changed = useOperatorChanged()
  const [overlap, setOverlap] = useState<Overlap>('PT24H')
  const until = oldSecretUntil(credential)
  const fresh = useFreshFactor()
  const rotate = useMutation({
    // Returns nothing, because the answer contains the secret and a mutation's result stays in memory for a while.
    async mutationFn() {
      const params = { path: { clientId: credential.clientId } }
      const rotated = await fresh(() =>
        answer(api.POST('/admin/credentials/{clientId}/rotate', { params, body: { overlap } })),
      )
      showSecret(texts.secretTitle, rotated, overlap === 'PT0S' ? null : rotated.previousValidUntil)
    },
    onSettled: changed,
  })
  const rotateOnce = useOnce(rotate)
  return (
    <FormFrame
      action={texts.rotate}
      onSubmit={rotateOnce}
      rest={rotate.error}
      lost={texts.mayBeRotated}
      isPending={rotate.isPending}
    >
      {until && <Alert color="orange">{texts.rotateTwice(format.dateTime(until))}</Alert>}
      <NativeSelect
        label={texts.overlap}
        data={overlaps.map(value => ({ value, label: texts.overlaps[value] }))}
        value={overlap}
        onChange={({ currentTarget }) => setOverlap(overlaps.find(each => each === currentTarget.value) ?? 'PT24H')}
        data-autofocus
      />
      {overlap === 'PT0S' && (
        <Text size="sm" c="dimmed">
          {texts.rotateNow}
        </Text>
      )}
    </FormFrame>
  )
}
