import type { FastifyRequest } from 'fastify'

/** Whether the answer shows its body. The answer to HEAD has no body, so a HEAD request is not recorded as a read. */
export const showsBody = ({ method }: Pick<FastifyRequest, 'method'>): boolean => method !== 'HEAD'
