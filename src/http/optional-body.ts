/** For routes whose body may be absent: an absent body is an empty one, `null` is none. */
export const bodyOptional = async (request: { body: unknown }): Promise<void> => {
  if (request.body === undefined) request.body = {}
}
