import { Card, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { Count } from '../../ui/values.tsx'
import { ImportProfiles } from '../components/import-profiles.tsx'
import { LevelBadge } from '../components/level-badge.tsx'
import { usePartnerName } from '../components/partner-name.tsx'
import { WithdrawProfiles } from '../components/withdraw-profiles.tsx'
import { type StockLine, stockQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/stock/$operatorCode/$tariffCode')

/** The stock of one tariff: importing more profiles, and taking profiles off sale. */
export function TariffStockPage() {
  const { stock: texts } = useTexts(operatorTexts)
  const { operatorCode, tariffCode } = route.useParams()
  const query = useQuery(stockQuery)
  const back = <BackLink to="/operator/stock">{texts.back}</BackLink>
  return (
    <PageLoaded query={query} back={back} notShown={texts.notShown} notFound={texts.nothing}>
      {lines => {
        const line = lines.find(each => each.operatorCode === operatorCode && each.tariffCode === tariffCode)
        return line ? <Whole line={line} /> : <PageHeader back={back} title={texts.nothing} />
      }}
    </PageLoaded>
  )
}

function Whole({ line }: { line: StockLine }) {
  const { stock: texts } = useTexts(operatorTexts)
  const names = useNames()
  const mayChange = useMayChange()
  const { free, reserved, sold, withdrawn, daysOfCover } = line
  return (
    <>
      <PageHeader
        back={<BackLink to="/operator/stock">{texts.back}</BackLink>}
        title={line.tariffName}
        badge={<LevelBadge line={line} />}
        lead={names.of({ name: line.operatorName, nameEn: line.operatorNameEn })}
      />
      <Stack gap="lg">
        <Card>
          <KeyFacts
            facts={[
              {
                label: texts.free,
                value: <Count value={free} />,
                hint: daysOfCover === null ? texts.noPace : texts.lasts(Math.floor(daysOfCover)),
              },
              { label: texts.reserved, value: <Count value={reserved} />, hint: <Holders line={line} /> },
              { label: texts.sold, value: <Count value={sold} /> },
              { label: texts.withdrawn, value: <Count value={withdrawn} /> },
            ]}
          />
        </Card>
        {mayChange && <ImportProfiles line={line} />}
        {mayChange && <WithdrawProfiles line={line} />}
      </Stack>
    </>
  )
}

/** The banks that hold reservations, largest number first. */
function Holders({ line: { holders } }: { line: StockLine }) {
  return (
    <Group gap="xs">
      {holders.map(holder => (
        <Holder key={holder.bank} holder={holder} />
      ))}
    </Group>
  )
}

function Holder({ holder: { bank, reserved } }: { holder: StockLine['holders'][number] }) {
  const format = useFormat()
  const name = usePartnerName({ kind: 'bank', code: bank })
  return (
    <span>
      <LinkAnchor to="/operator/partners/$kind/$code" params={{ kind: 'banks', code: bank }} inherit>
        {name}
      </LinkAnchor>
      {`: ${format.number(reserved)}`}
    </span>
  )
}
