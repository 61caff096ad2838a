/**
 * Names of tariffs and mobile operators, from the bank's stock. Other answers of the platform contain only their codes.
 */
import { useQuery } from '@tanstack/react-query'
import { useNames } from '../i18n/preferences.tsx'
import { stockQuery } from './queries.ts'
import type { TariffCodes } from './sales-figures.ts'

/** The codes of the bank's tariffs; empty until they are loaded. */
export function useTariffs(): TariffCodes[] {
  const { data = [] } = useQuery(stockQuery)
  return data.flatMap(({ code: operatorCode, tariffs }) =>
    tariffs.map(({ code: tariffCode }) => ({ operatorCode, tariffCode })),
  )
}

/** The name of a tariff. If another mobile operator has a tariff of the same name, the operator's name is added. */
export function useTariffName(): (tariff: TariffCodes) => string {
  const names = useNames()
  const { data = [] } = useQuery(stockQuery)
  return ({ operatorCode, tariffCode }) => {
    const operator = data.find(({ code }) => code === operatorCode)
    const tariff = operator?.tariffs.find(({ code }) => code === tariffCode)
    if (!operator || !tariff) return tariffCode
    const isShared = data.some(each => each !== operator && each.tariffs.some(({ name }) => name === tariff.name))
    return isShared ? `${tariff.name} · ${names.of(operator)}` : tariff.name
  }
}

/** The name of a mobile operator by its code; the code itself until the names are loaded. */
export function useOperatorName(): (code: string) => string {
  const names = useNames()
  const { data = [] } = useQuery(stockQuery)
  return code => {
    const operator = data.find(each => each.code === code)
    return operator ? names.of(operator) : code
  }
}
