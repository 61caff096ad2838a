/**
 * The menu of a manager's actions on a person. Each action explains its effect. Actions that take something away ask
 * for confirmation first.
 */
import { ActionIcon, Group, Menu, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconDotsVertical } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { inviteTexts } from '../../people/texts.ts'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { rolesOf } from '../../session/rights.ts'
import { sessionTexts } from '../../session/texts.ts'
import { useSession } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { showOnce } from '../../ui/once-shown.tsx'
import { invitationsQuery, type Person, useAccountChanged } from '../queries.ts'
import { accountTexts } from '../texts.ts'
import type { ChosenAccount } from './account-choice.tsx'
import { EmailForm } from './email-form.tsx'

type Props = { person: Person; account: ChosenAccount }

export const useRoleTexts = (): Record<string, string> => useTexts(sessionTexts).role

export function PersonActions({ person, account }: Props) {
  const texts = useTexts(accountTexts).people
  const session = useSession()
  const isSelf = person.login === session.login && account.typeAccount === session.typeAccount
  const Items = isSelf ? OwnItems : itemsOf[person.status]
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      {isSelf && <Text c="dimmed">{texts.you}</Text>}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={texts.more(person.login)}>
            <IconDotsVertical size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Items person={person} account={account} />
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

const itemsOf = { invited: InvitedItems, active: ActiveItems, disabled: DisabledItems }

/**
 * The items for the person's own row. People can change only their own e-mail address here, not their role, status or
 * second factor.
 */
function OwnItems({ person }: Props) {
  return <EmailItem person={person} />
}

function EmailItem({ person }: Pick<Props, 'person'>) {
  const texts = useTexts(accountTexts).people
  const ask = () =>
    modals.open({
      title: texts.emailTitle(person.login),
      children: <EmailForm person={person} />,
    })
  return <Menu.Item onClick={ask}>{texts.changeEmail}</Menu.Item>
}

function InvitedItems({ person, account }: Props) {
  const texts = useTexts(accountTexts).people
  const asked = useAsked()
  const withdraw = useWithdraw(person, account)
  const question = { title: texts.withdrawTitle(person.login), text: texts.withdrawText, action: texts.withdraw }
  return <Menu.Item onClick={asked(question, () => withdraw.mutate())}>{texts.withdraw}</Menu.Item>
}

function ActiveItems({ person, account }: Props) {
  const texts = useTexts(accountTexts).people
  const roles = useRoleTexts()
  const asked = useAsked()
  const { change, resetPassword, resetFactor } = useChanges(person)
  const { login, email } = person
  const toRole = (role: string) => ({
    title: texts.roleTitle(login, roles[role] ?? role),
    text: texts.roleText,
    action: texts.changeRole,
  })
  const forPassword = {
    title: texts.resetPasswordTitle(login),
    text: texts.resetPasswordText(email),
    action: texts.resetPassword,
  }
  const forFactor = { title: texts.resetFactorTitle(login), text: texts.resetFactorText, action: texts.resetFactor }
  const shutOut = {
    title: texts.disableTitle(login),
    text: texts.disableText,
    action: texts.disable,
    isDangerous: true,
  }
  return (
    <>
      {rolesOf(account)
        .filter(role => role !== person.role)
        .map(role => (
          <Menu.Item key={role} onClick={asked(toRole(role), () => change.mutate({ role }))}>
            {texts.makeRole(roles[role] ?? role)}
          </Menu.Item>
        ))}
      <Menu.Divider />
      <EmailItem person={person} />
      <Menu.Item onClick={asked(forPassword, () => resetPassword.mutate())}>{texts.resetPassword}</Menu.Item>
      {person.mfa.length > 0 && (
        <Menu.Item onClick={asked({ ...forFactor, isDangerous: true }, () => resetFactor.mutate())}>
          {texts.resetFactor}
        </Menu.Item>
      )}
      <Menu.Item color="red" onClick={asked(shutOut, () => change.mutate({ disabled: true }))}>
        {texts.disable}
      </Menu.Item>
    </>
  )
}

function DisabledItems({ person }: Props) {
  const texts = useTexts(accountTexts).people
  const asked = useAsked()
  const { change, erase } = useChanges(person)
  const question = {
    title: texts.eraseTitle(person.login),
    text: texts.eraseText,
    action: texts.erase,
    isDangerous: true,
  }
  return (
    <>
      <Menu.Item onClick={() => change.mutate({ disabled: false })}>{texts.enable}</Menu.Item>
      <Menu.Item color="red" onClick={asked(question, () => erase.mutate())}>
        {texts.erase}
      </Menu.Item>
    </>
  )
}

type Question = Parameters<ReturnType<typeof useConfirm>>[0]

/** @returns a function that creates click handlers. A handler asks the question, and makes the change after a yes */
function useAsked(): (question: Question, change: () => void) => () => void {
  const confirm = useConfirm()
  return (question, change) => async () => {
    if (await confirm(question)) change()
  }
}

/** Reports the result and reads the list again, also after a refusal: somebody else may have changed the person. */
function useOutcome(conflict: string) {
  const texts = useTexts(accountTexts).people
  const changed = useAccountChanged()
  const notify = useNotify()
  return {
    onSuccess() {
      void changed()
      notify.done(texts.done)
    },
    onError(error: unknown) {
      void changed()
      if (isApiError(error, 409)) notify.refused(conflict)
      else notify.failed(error)
    },
  }
}

function useChanges({ userId }: Person) {
  const texts = useTexts(accountTexts).people
  const linked = useTexts(inviteTexts)
  const fresh = useFreshFactor()
  const changed = useAccountChanged()
  const notify = useNotify()
  const path = { params: { path: { userId } } }
  const ofMeanwhile = useOutcome(texts.changedMeanwhile)
  return {
    change: useMutation({
      mutationFn: (body: { role?: string; disabled?: boolean }) =>
        fresh(() => api.PATCH('/portal/users/{userId}', { ...path, body })),
      ...useOutcome(texts.lastManager),
    }),
    resetPassword: useMutation({
      mutationFn: () => fresh(() => answer(api.POST('/portal/users/{userId}/reset-password', path))),
      onSuccess({ link }) {
        void changed()
        if (link === undefined) notify.done(texts.mailed)
        else showOnce(linked.linkTitle, linked.linkText, [{ label: linked.link, value: link }])
      },
      onError: ofMeanwhile.onError,
    }),
    resetFactor: useMutation({
      mutationFn: () => fresh(() => api.POST('/portal/users/{userId}/reset-mfa', path)),
      ...ofMeanwhile,
    }),
    erase: useMutation({
      mutationFn: () => fresh(() => api.DELETE('/portal/users/{userId}', path)),
      ...ofMeanwhile,
    }),
  }
}

/** Withdraws only the invitation of this row, because there may be a newer one with the same login. */
function useWithdraw({ userId }: Person, { named }: ChosenAccount) {
  const texts = useTexts(accountTexts).people
  const queryClient = useQueryClient()
  const changed = useAccountChanged()
  const notify = useNotify()
  return useMutation({
    async mutationFn() {
      const invitations = await queryClient.fetchQuery({ ...invitationsQuery(named), staleTime: 0 })
      const invitationId = invitations.find(invitation => invitation.userId === userId)?.invitationId
      if (invitationId === undefined) return false
      await api.DELETE('/portal/invitations/{invitationId}', { params: { path: { invitationId } } })
      return true
    },
    onSuccess: isWithdrawn => (isWithdrawn ? notify.done(texts.withdrawn) : notify.refused(texts.gone)),
    onError: error => (isApiError(error, 404) ? notify.refused(texts.gone) : notify.failed(error)),
    onSettled: () => changed(),
  })
}
