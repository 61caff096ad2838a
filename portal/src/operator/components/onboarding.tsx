import { Stack, Stepper, Title } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { InviteForm } from '../../people/invite-form.tsx'
import { inviteTexts } from '../../people/texts.ts'
import { useAskBeforeUnload } from '../../ui/ask-before-unload.ts'
import { openKeptDialog } from '../../ui/kept-dialog.ts'
import { OnceShown } from '../../ui/once-shown.tsx'
import { operatorTexts } from '../texts.ts'
import { CredentialForm } from './credential-form.tsx'
import { ownerAccount } from './owner.ts'
import { BankForm, MerchantForm } from './partner-forms.tsx'
import { type Issued, Secret } from './secret.tsx'

/** The first user can invite the others. */
const firstRole = { bank: 'ADMIN', merchant: 'admin_user' }

/** A guided flow: the partner’s details, then its credentials, then the invitation of its first user. It ends on the partner's page. */
function Onboarding({ kind, onFinished }: { kind: 'bank' | 'merchant'; onFinished: (code: string) => void }) {
  const { partners: texts } = useTexts(operatorTexts)
  const inviting = useTexts(inviteTexts)
  const [partner, setPartner] = useState<{ code: string; name: string } | null>(null)
  const code = partner?.code ?? null
  const [link, setLink] = useState<string | null>(null)
  const [issued, setIssued] = useState<Issued | null>(null)
  const [step, setStep] = useState<'entry' | 'credential' | 'user'>('entry')
  const steps = ['entry', 'credential', 'user'] as const
  // Leaving would lose the next steps and a secret that is shown only once: nothing else keeps them.
  useAskBeforeUnload(code !== null)
  const finish = (created: string) => {
    modals.closeAll()
    onFinished(created)
  }
  const onCreated = (created: { code: string; name: string }) => {
    setPartner(created)
    setStep('credential')
  }
  return (
    <>
      <Stepper active={steps.indexOf(step)} size="xs" mb="lg" allowNextStepsSelect={false}>
        {steps.map(each => (
          <Stepper.Step key={each} label={texts.steps[each]} />
        ))}
      </Stepper>
      {step === 'entry' &&
        (kind === 'bank' ? <BankForm onCreated={onCreated} /> : <MerchantForm onCreated={onCreated} />)}
      {step === 'credential' && code !== null && !issued && (
        <CredentialForm owner={{ kind, code }} onMade={setIssued} onCancel={() => setStep('user')} />
      )}
      {step === 'credential' && issued && (
        <Secret
          issued={issued}
          onKept={() => {
            setIssued(null)
            setStep('user')
          }}
        />
      )}
      {step === 'user' && partner && link === null && (
        <Stack gap="md">
          <Title order={3}>{inviting.title(partner.name)}</Title>
          <InviteForm
            {...ownerAccount({ kind, code: partner.code })}
            role={firstRole[kind]}
            onInvited={shown => (shown === undefined ? finish(partner.code) : setLink(shown))}
            onCancel={() => finish(partner.code)}
          />
        </Stack>
      )}
      {partner && link !== null && (
        <OnceShown
          hint={inviting.linkText}
          fields={[{ label: inviting.link, value: link }]}
          onKept={() => finish(partner.code)}
        />
      )}
    </>
  )
}

/**
 * Opens the flow.
 *
 * @param onFinished called with the code of the new partner
 */
export function openOnboarding(kind: 'bank' | 'merchant', title: string, onFinished: (code: string) => void): void {
  openKeptDialog(title, <Onboarding kind={kind} onFinished={onFinished} />)
}
