import { Stepper } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { useAskBeforeUnload } from '../../ui/ask-before-unload.ts'
import { openKeptDialog } from '../../ui/kept-dialog.ts'
import { operatorTexts } from '../texts.ts'
import { CredentialForm, UserForm } from './access-forms.tsx'
import { BankForm, MerchantForm } from './partner-forms.tsx'
import { type Issued, Secret } from './secret.tsx'

/** A guided flow: the partner’s details, then its credentials, then its first user. It ends on the partner's page. */
function Onboarding({ kind, onFinished }: { kind: 'bank' | 'merchant'; onFinished: (code: string) => void }) {
  const { partners: texts } = useTexts(operatorTexts)
  const [code, setCode] = useState<string | null>(null)
  const [issued, setIssued] = useState<Issued | null>(null)
  const [step, setStep] = useState<'entry' | 'credential' | 'user'>('entry')
  const steps = ['entry', 'credential', 'user'] as const
  // Leaving would lose the next steps and a secret that is shown only once: nothing else keeps them.
  useAskBeforeUnload(code !== null)
  const finish = (created: string) => {
    modals.closeAll()
    onFinished(created)
  }
  const onCreated = (partner: { code: string }) => {
    setCode(partner.code)
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
      {step === 'user' && code !== null && (
        <UserForm owner={{ kind, code }} onMade={() => finish(code)} onCancel={() => finish(code)} />
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
