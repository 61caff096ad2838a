import { SaveFile } from '../../ui/save-file.tsx'

/**
 * Saves all orders that match the filters as one file.
 *
 * @param props.params the query of the platform's export
 */
export const SaveOrders = ({
  params,
  isDisabled,
}: {
  params: Record<string, string | boolean>
  isDisabled: boolean
}) => (
  <SaveFile
    path={`/portal/esim/orders.csv?${new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]))}`}
    name="esim-orders.csv"
    isDisabled={isDisabled}
  />
)
