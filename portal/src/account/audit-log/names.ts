/** Names for the ids in entries: people, credentials, banks and merchants, as far as the reader may see them. */
import { useQuery } from '@tanstack/react-query'
import { directoryQuery } from '../../campaigns/queries.ts'
import { useNames } from '../../i18n/preferences.tsx'
import { isManager } from '../../session/rights.ts'
import { useSession } from '../../session/use-session.ts'
import { ownCredentialsQuery, partnersToChooseQuery, peopleQuery } from '../queries.ts'
import { allPeopleQuery, type Entry } from './queries.ts'

/** Names of people, credentials, banks and merchants by their ids. */
export type KnownNames = ReadonlyMap<string, string>

/** A person or system that can be chosen in the filter. */
export type Actor = { id: string; name: string }

/** @param entries the shown entries, which contain the names of their actors and accounts */
export function useKnownNames(entries: readonly Entry[]): { known: KnownNames; actors: Actor[] } {
  const session = useSession()
  const names = useNames()
  const isPlatform = session.typeAccount === 'platform'
  const { data: people = [] } = useQuery({ ...peopleQuery(), enabled: isManager(session) })
  const { data: credentials = [] } = useQuery({ ...ownCredentialsQuery(), enabled: isManager(session) && !isPlatform })
  const { data: allPeople = [] } = useQuery({ ...allPeopleQuery, enabled: isPlatform })
  const { data: banks = [] } = useQuery({ ...partnersToChooseQuery('bank', ''), enabled: isPlatform })
  const { data: directory } = useQuery(directoryQuery)
  const systems = directory?.paymentSystems.map(({ id, name }) => [id, name] as const) ?? []
  const own = session.id ? [[session.id, names.of(session)] as const] : []
  const actors = new Map([
    ...entries.flatMap(({ actor: { id, name } }) => (id && name && name !== erasedName ? [[id, name] as const] : [])),
    ...people.map(({ userId, login }) => [userId, login] as const),
    ...credentials.map(({ clientId, label }) => [clientId, label || clientId] as const),
  ])
  const known = new Map([
    ...systems,
    ...own,
    ...banks.map(({ id, name }) => [id, name] as const),
    ...entries.flatMap(({ account: { id, name, nameEn } }) =>
      id && name ? [[id, names.of({ name, nameEn })] as const] : [],
    ),
    ...allPeople.map(({ userId, login }) => [userId, login] as const),
    ...actors,
  ])
  return { known, actors: [...actors].map(([id, name]) => ({ id, name })) }
}

/** The name that the platform gives to an erased person. */
export const erasedName = 'erased person'
