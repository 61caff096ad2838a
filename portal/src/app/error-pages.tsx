/** Pages that are shown in place of a page that cannot be shown. */
import { Button, Container } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { isApiError } from '../api/errors.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { forbidden } from '../routing/base-routes.ts'
import { LinkButton } from '../ui/links.tsx'
import { NotLoaded } from '../ui/not-loaded.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Failure, Loading } from '../ui/states.tsx'
import { uiTexts } from '../ui/texts.ts'
import { checkConnection, useLostSince } from './connection.ts'
import { appTexts } from './texts.ts'

/** A page that replaces another one, with a link to the start page. */
function ErrorFrame({ title, children }: { title: string; children: ReactNode }) {
  const { notFound } = useTexts(appTexts)
  return (
    <Container size="sm" py="xl">
      <PageHeader title={title} />
      {children}
      <LinkButton to="/" variant="default" mt="lg" display="table">
        {notFound.action}
      </LinkButton>
    </Container>
  )
}

/** The error boundary of every page; the frame around the page stays. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const texts = useTexts(uiTexts)
  if (error instanceof NotLoaded) return <NotLoadedPage />
  const isForbidden = isApiError(error, 403)
  return (
    <ErrorFrame title={isForbidden ? texts.forbidden : texts.errors.title}>
      <Failure error={error} onRetry={isForbidden ? undefined : reset} />
    </ErrorFrame>
  )
}

const reloadedKey = 'perkline.reloaded-at'

/**
 * Whether the page should reload itself, because a new version of the platform may have replaced its files. Returns
 * true at most once a minute, so that the page does not reload again and again.
 */
function isReloadDue(): boolean {
  const isDue = Date.now() - Number(sessionStorage.getItem(reloadedKey) ?? 0) > 60_000
  if (isDue) sessionStorage.setItem(reloadedKey, String(Date.now()))
  return isDue
}

/**
 * The page's code could not be loaded. With a connection the page reloads itself; without one, it does so once the
 * connection is back, or the person can retry.
 */
function NotLoadedPage() {
  const { notLoaded } = useTexts(appTexts)
  const { retry, reload, errors } = useTexts(uiTexts)
  const [isLooking, setLooking] = useState(true)
  const loadAnew = useCallback(async (mayReload: () => boolean) => {
    setLooking(true)
    if ((await checkConnection()) && mayReload()) location.reload()
    else setLooking(false)
  }, [])
  useEffect(() => void loadAnew(isReloadDue), [loadAnew])
  const isLost = useLostSince() !== null
  const wasLost = useRef(isLost)
  useEffect(() => {
    if (wasLost.current && !isLost) location.reload()
    wasLost.current = isLost
  }, [isLost])
  return (
    <Container size="sm" py="xl">
      <PageHeader title={notLoaded.title} lead={isLooking ? undefined : isLost ? notLoaded.text : errors.updated} />
      <Button loading={isLooking} onClick={() => loadAnew(() => true)}>
        {isLost ? retry : reload}
      </Button>
    </Container>
  )
}

/** Shown when the page does not exist, or when this kind of account may not open it. */
export function NotFoundPage({ data }: { data?: unknown }) {
  const texts = useTexts(uiTexts)
  const { notFound } = useTexts(appTexts)
  if (data === forbidden) return <ErrorFrame title={texts.forbidden}>{texts.errors[403]}</ErrorFrame>
  return <ErrorFrame title={notFound.title}>{notFound.text}</ErrorFrame>
}

export function PendingPage() {
  return (
    <Container size="lg" py="xl">
      <Loading />
    </Container>
  )
}
