import { Alert, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle, IconLock } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { focusFirst } from '../../ui/focus-first.ts'
import { Failure } from '../../ui/states.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { CustomerCard } from '../detail/customer-card.tsx'
import type { Directory } from '../types.ts'
import { withBankNames } from './bank-names.ts'
import { BannersSection } from './banners-section.tsx'
import { BasicsSection } from './basics-section.tsx'
import classes from './campaign-form.module.css'
import { ChoiceSection } from './choice-section.tsx'
import { campaignFields, type FormPart, mayOnlyGrow } from './fields.ts'
import { FormNavigation } from './form-navigation.tsx'
import { formTexts } from './form-texts.ts'
import { withListedValues } from './listed-values.ts'
import { type BankNames, bankNamesOf, withoutLostBanks } from './lost-banks.ts'
import { MoneySection } from './money-section.tsx'
import { endOf, PeriodSection } from './period-section.tsx'
import { problemsOf } from './problems.ts'
import { ProductsSection } from './products-section.tsx'
import { type RetailerChoice, RetailerSection } from './retailer-section.tsx'
import { SaveBar } from './save-bar.tsx'
import { sectionState, shownSections } from './sections.ts'
import { TerminalsSection } from './terminals-section.tsx'
import type { CampaignValues, EditableField, Figure } from './values.ts'

type Props = {
  /** The stored values, or those of an empty form. */
  initial: CampaignValues
  /** Unsaved changes from an earlier visit. */
  restored?: Partial<CampaignValues>
  /** The names of the banks in `restored`, as they were when the changes were made. */
  bankNames?: BankNames | undefined
  directory: Directory
  /** The merchant of the campaign, for the preview; null: it is chosen from `retailers`. */
  retailer: { name: string; nameEn?: string | null } | null
  /** The merchants to choose from when a bank creates the campaign. */
  retailers?: readonly RetailerChoice[]
  /** The banks to choose from; null: a bank creates the campaign, so nobody is invited here. */
  banks: readonly { id: string; name: string }[] | null
  /** The fields that may be changed; null: all. */
  editable: readonly EditableField[] | null
  submit: string
  /** @throws ApiError whose errors are shown at their fields */
  save: (values: CampaignValues) => Promise<unknown>
  /** Called after each change, also with the names of the chosen banks. */
  onValues: (values: CampaignValues, bankNames: BankNames) => void
  /** The way to leave the form without saving. */
  cancel: ReactNode
  /** Shown above the form: notices about drafts and newer versions. */
  notice?: ReactNode
  /** Shown above the button: a notice that the campaign may be saved already. */
  lost?: ReactNode
}

/** The form that creates and edits campaigns, with a preview of the card that customers see. */
export function CampaignForm(props: Props) {
  const {
    initial,
    restored = {},
    bankNames = {},
    directory,
    retailers = [],
    editable,
    submit,
    save,
    onValues,
    cancel,
    notice,
    lost: lostAnswer,
  } = props
  const texts = useTexts(formTexts)
  const banks = useBanks(props.banks)
  const [{ values: kept, lost }] = useState(() => withoutLostBanks(restored, banks ?? [], bankNames))
  const isOpen = (field: EditableField) => editable === null || editable.includes(field)
  const form = useForm<CampaignValues>({
    initialValues: { ...initial, ...kept },
    onValuesChange: values => onValues(values, bankNamesOf(values.participantsIds, banks ?? [])),
    validateInputOnChange: ['merchantCategoryCode'],
    validate: values => problemsOf(values, { isOpen, isByBank: banks === null }, texts),
  })
  const { place, clear, rest } = useFieldErrors(form, campaignFields)
  const onError = (error: unknown, values: CampaignValues) =>
    place(withBankNames(withListedValues(error, values), values.participantsIds, banks ?? []))
  const saving = useMutation({ mutationFn: save, onMutate: clear, onError })
  const isGrowing = editable !== null && mayOnlyGrow(editable)
  const currency = directory.countries.find(({ code }) => code === form.values.countryCode)?.currency.code ?? null
  const part = { form, isOpen, isByBank: banks === null }
  const retailer = props.retailer ?? retailers.find(({ retailerId }) => retailerId === form.values.retailerId)

  const problems = problemsOf(form.values, part, texts)
  const sections = shownSections(part, form.values).map(name => ({
    name,
    state: sectionState(name, form.errors, problems),
  }))

  return (
    <div className={classes.beside}>
      <form noValidate className={classes.form} onSubmit={form.onSubmit(values => saving.mutate(values), focusFirst)}>
        <Stack gap="lg">
          {notice}
          {lost.length > 0 && <LostBanks names={lost} />}
          {isGrowing && (
            <Alert color="gray" icon={<IconLock />}>
              {editable.length === 0 ? texts.allLocked : texts.someLocked}
            </Alert>
          )}
          <Sections props={props} part={part} banks={banks} isGrowing={isGrowing} currency={currency} />
          {rest !== null && <Failure error={rest} />}
          {lostAnswer}
        </Stack>
        <SaveBar
          submit={submit}
          isSaving={saving.isPending}
          errors={Object.values(form.errors).filter(Boolean).length}
          cancel={cancel}
        />
      </form>
      <aside className={classes.aside}>
        <FormNavigation sections={sections} />
        <Preview values={form.values} currency={currency} retailer={retailer ?? { name: '' }} />
      </aside>
    </div>
  )
}

/**
 * The banks to choose from. The list may be read again while the form is open. A bank that is missing in the new list keeps its box,
 * because the person may have chosen it.
 */
function useBanks(banks: Props['banks']): Props['banks'] {
  const [atFirst] = useState(banks ?? [])
  const known = new Set(banks?.map(({ id }) => id))
  return banks && [...banks, ...atFirst.filter(({ id }) => !known.has(id))]
}

/** Says which banks of a draft can no longer be invited. @param props.names null for a bank whose name is unknown */
function LostBanks({ names }: { names: readonly (string | null)[] }) {
  const texts = useTexts(formTexts)
  const format = useFormat()
  const known = names.filter(name => name !== null)
  return (
    <Alert color="orange" icon={<IconAlertTriangle />} role="alert">
      {known.length === names.length ? texts.lostBanks(format.list(known)) : texts.someBanksLost}
    </Alert>
  )
}

type Within = Pick<Props, 'banks'> & { props: Props; part: FormPart; isGrowing: boolean; currency: string | null }

function Sections({ props, part, banks, isGrowing, currency }: Within) {
  const { directory, retailers = [], initial } = props
  const texts = useTexts(formTexts)
  return (
    <>
      {part.isByBank && <RetailerSection {...part} retailers={retailers} />}
      <BasicsSection {...part} countries={directory.countries} />
      <PeriodSection {...part} />
      <MoneySection {...part} currency={currency} />
      <ProductsSection {...part} />
      {banks && (
        <ChoiceSection
          {...part}
          name="participantsIds"
          title={texts.sections.banks}
          label={texts.banks}
          choices={banks}
          hint={isGrowing ? texts.banksGrow : texts.banksHint}
          empty={texts.noBanks}
          stored={initial.participantsIds}
          isGrowing={isGrowing}
        />
      )}
      <TerminalsSection {...part} isGrowing={isGrowing} />
      <ChoiceSection
        {...part}
        name="paymentSystemsId"
        title={texts.sections.paymentSystems}
        label={texts.paymentSystems}
        choices={directory.paymentSystems}
        stored={initial.paymentSystemsId}
      />
      <BannersSection {...part} />
    </>
  )
}

type Shown = { values: CampaignValues; currency: string | null; retailer: { name: string; nameEn?: string | null } }

function Preview({ values, currency, retailer }: Shown) {
  const figure = (value: Figure) => (typeof value === 'number' ? value : null)
  return (
    <CustomerCard
      campaign={{
        ...values,
        percentage: figure(values.percentage),
        minAmount: figure(values.minAmount),
        maxAmount: figure(values.maxAmount),
        dateTo: endOf(values),
        currency,
        retailer,
      }}
    />
  )
}
