import { Avatar, Group, Menu, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { modals } from '@mantine/modals'
import { notifications } from '@mantine/notifications'
import { IconChevronDown, IconLogout, IconUser, IconWorld } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useFormat, useNames, usePreferences, useTexts } from '../i18n/preferences.tsx'
import { countDraftsOf } from '../session/draft-store.ts'
import { logOut, personOf } from '../session/session.ts'
import { sessionTexts } from '../session/texts.ts'
import { useSession } from '../session/use-session.ts'
import { useConfirm } from '../ui/confirm.tsx'
import { part } from '../ui/not-loaded.ts'
import { useNotify } from '../ui/notify.tsx'
import { isUploading } from '../ui/running-uploads.ts'
import { uiTexts } from '../ui/texts.ts'
import classes from './account-menu.module.css'
import { usePartFailed } from './part-failed.ts'
import { appTexts } from './texts.ts'

/** The menu of the logged-in person: account, profile, time zone and logout. */
export function AccountMenu() {
  const texts = useTexts(appTexts)
  const names = useTexts(sessionTexts)
  const { upload: uploadTexts } = useTexts(uiTexts)
  const format = useFormat()
  const { timeZone } = usePreferences()
  const session = useSession()
  const { login, role, typeAccount, expiresAt } = session
  const name = useNames().of(session)
  const router = useRouter()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const partFailed = usePartFailed()
  const leave = useMutation({
    mutationFn: () => logOut(queryClient, session),
    onSuccess(isEnded) {
      notifications.clean()
      return router.navigate({ to: '/login', search: { because: isEnded ? 'left' : 'leftHereOnly' }, replace: true })
    },
    onError: notify.failed,
  })
  const confirm = useConfirm()
  const askAndLeave = async () => {
    // If the browser's storage cannot be read, there are no drafts.
    const forms = await countDraftsOf(personOf(session)).catch(() => 0)
    const lost = [...(forms > 0 ? [texts.logOutText(forms)] : []), ...(isUploading() ? [uploadTexts.leaveText] : [])]
    const question = {
      title: forms > 0 ? texts.logOutTitle : uploadTexts.leaveTitle,
      text: lost.join(' '),
      action: texts.logOut,
      isDangerous: true,
    }
    if (lost.length === 0 || (await confirm(question))) leave.mutate()
  }
  const openTimeZone = () =>
    part(import('./time-zone-form.tsx')).then(
      ({ TimeZoneForm }) =>
        void modals.open({ title: texts.timeZoneTitle, centered: true, children: <TimeZoneForm /> }),
      partFailed,
    )

  return (
    <Menu position="bottom-end" width={280}>
      <Menu.Target>
        <UnstyledButton className={classes.button}>
          <VisuallyHidden>{texts.account}</VisuallyHidden>
          <Avatar name={name} color="perk" size={34} radius="xl" aria-hidden />
          <span className={classes.names}>
            <Text size="sm" fw={600} lh={1.25} truncate>
              {name}
            </Text>
            <Text size="xs" c="dimmed" lh={1.25} truncate>
              {login}
            </Text>
          </span>
          <IconChevronDown size={16} aria-hidden className={classes.chevron} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Group px="sm" py="xs" gap="sm" wrap="nowrap">
          <div>
            <Text size="sm" fw={600}>
              {name}
            </Text>
            <Text size="xs" c="dimmed">
              {`${names.accountType[typeAccount]} · ${login} · ${names.role[role]}`}
            </Text>
            <Text size="xs" c="dimmed">
              {texts.sessionUntil(format.time(expiresAt))}
            </Text>
          </div>
        </Group>
        <Menu.Divider />
        <Menu.Item component={Link} to="/account/profile" leftSection={<IconUser size={18} aria-hidden />}>
          {texts.profile}
        </Menu.Item>
        <Menu.Item leftSection={<IconWorld size={18} aria-hidden />} onClick={openTimeZone}>
          {texts.timeZone}
          <Text size="xs" c="dimmed">
            {timeZone}
          </Text>
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={18} aria-hidden />} onClick={() => void askAndLeave()}>
          {texts.logOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
