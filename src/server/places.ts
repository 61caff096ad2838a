/** The addresses of everything that a process serves for people and developers. */
import type { Service } from '../config.ts'

/** The paths of the answer to `GET /`. @param runs whether this process runs a service */
export const placesOf = (runs: (service: Service) => boolean) => ({
  name: 'Perkline',
  ...(runs('portal') && { portal: '/app/' }),
  documentation: {
    ...((runs('auth') || runs('cashback') || runs('portal')) && { campaigns: '/swagger' }),
    ...(runs('esim') && { esim: '/esim/v1/swagger' }),
    ...(runs('partner') && { partner: '/partner/v1/swagger' }),
    ...(runs('admin') && { operator: '/admin/swagger' }),
  },
  health: '/health/ready',
})
