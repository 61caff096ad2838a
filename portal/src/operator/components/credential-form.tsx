/** The form that issues a credential. */
import { Anchor, NativeSelect, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { rolesOfBankSystems } from '../../session/rights.ts'
import { sessionTexts } from '../../session/texts.ts'
import { focusFirst } from '../../ui/focus-first.ts'
import { FormFrame } from '../../ui/form-frame.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { useOnce } from '../../ui/use-once.ts'
import { useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import type { Owner } from './owner.ts'
import { PartnerSelect } from './partner-select.tsx'
import { type Issued, showSecret } from './secret.tsx'

const firstOwner = (owner: Owner = { kind: 'bank', code: '' }) => ({ kind: owner.kind, partner: owner.code })

const credentialFields = ['role', 'label'] as const

/**
 * @param props.owner if it is left out, the form asks for a partner
 * @param props.onMade called with the new credential. Default: shows the secret
 * @param props.onCancel default: closes the dialog
 */
export function CredentialForm(props: { owner?: Owner; onMade?: (issued: Issued) => void; onCancel?: () => void }) {
  const { owner, onMade, onCancel } = props
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(sessionTexts)
  const changed = useOperatorChanged()
  const form = useForm({
    initialValues: { ...firstOwner(owner), role: 'ADMIN' as const, label: '' },
    validate: { partner: code => (code === '' ? texts.fillIn : null) },
  })
  const { place, clear, rest } = useFieldErrors(form, credentialFields)
  const { kind, partner, role, label } = form.values
  const fresh = useFreshFactor()
  const issue = useMutation({
    // Returns nothing, because the answer contains the secret and a mutation's result stays in memory for a while.
    async mutationFn() {
      const body = kind === 'bank' ? { bank: partner, role, label } : { merchant: partner, label }
      const issued = await fresh(() => answer(api.POST('/admin/credentials', { body })))
      if (onMade) onMade(issued)
      else showSecret(texts.secretTitle, issued)
    },
    onMutate: clear,
    onError: place,
    onSettled: changed,
  })
  const issueOnce = useOnce(issue)
  // The list opens in another tab, because the steps of a new partner would be lost in this one. A dialog is outside of
  // the router, so this is a plain link.
  const lost = (
    <>
      {texts.mayBeIssued}{' '}
      <Anchor
        href={`${import.meta.env.BASE_URL}operator/partners/${kind}s/${partner}`}
        target="_blank"
        inherit
        underline="always"
      >
        {texts.toCredentials}
      </Anchor>
    </>
  )
  return (
    <FormFrame
      action={texts.issue}
      onCancel={onCancel}
      onSubmit={form.onSubmit(issueOnce, focusFirst)}
      rest={rest}
      lost={lost}
      isPending={issue.isPending}
    >
      {!owner && (
        <>
          <NativeSelect
            label={texts.partner}
            data={(['bank', 'merchant'] as const).map(value => ({ value, label: texts.partnerKinds[value] }))}
            value={kind}
            onChange={({ currentTarget }) =>
              form.setValues({ kind: currentTarget.value === 'bank' ? 'bank' : 'merchant', partner: '' })
            }
            data-autofocus
          />
          <PartnerSelect
            key={kind}
            kind={kind}
            value={partner}
            onChange={code => form.setFieldValue('partner', code)}
            error={form.errors.partner}
          />
        </>
      )}
      {kind === 'bank' && (
        <NativeSelect
          label={texts.role}
          data={rolesOfBankSystems.map(value => ({ value, label: roles[value] }))}
          {...form.getInputProps('role')}
        />
      )}
      <TextInput label={texts.label} data-autofocus={owner && true} {...form.getInputProps('label')} />
    </FormFrame>
  )
}
