import { ApiError } from '../../api/errors.ts'

/**
 * Puts names into the errors about banks, because the platform names a bank by its id or by its place in the list.
 *
 * @param chosen the ids that were sent
 * @param banks the banks whose names are known
 */
export function withBankNames(
  error: unknown,
  chosen: readonly string[],
  banks: readonly { id: string; name: string }[],
): unknown {
  if (!(error instanceof ApiError)) return error
  const nameOf = (id: unknown) => banks.find(bank => bank.id === id)?.name
  const fieldErrors = error.fieldErrors.map(fieldError => {
    const [list, place] = fieldError.field.split('.')
    if (list !== 'participantsIds') return fieldError
    const name = nameOf(chosen[Number(place)])
    const missing = nameOf(fieldError.params.missing)
    return {
      ...fieldError,
      ...(name !== undefined && { field: `${list}.${name}` }),
      ...(missing !== undefined && { params: { ...fieldError.params, missing } }),
    }
  })
  return error.with({ fieldErrors })
}
