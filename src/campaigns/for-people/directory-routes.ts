/** Routes that return the choices in the portal's forms, for people of all partners. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { authenticate } from '../../access/request/authenticate.ts'
import { cashbackErrors, secured, uuid } from '../../http/schemas.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { listDirectory } from './directory-store.ts'

const text = (description: string, example: string) => Type.String({ description, examples: [example] })

const Directory = Type.Object(
  {
    countries: Type.Array(
      Type.Object({
        code: text('ISO 3166-1 alpha-2, the `countryCode` of a campaign', 'UA'),
        name: text('Its name', 'Ukraine'),
        currency: Type.Object(
          {
            code: text('ISO 4217', 'UAH'),
            name: text('Its name', 'Hryvnia'),
            symbol: text('Its sign', '₴'),
            icon: text('Address of an icon; may be empty', ''),
          },
          { description: 'The currency of amounts in its campaigns' },
        ),
      }),
      { description: 'By name' },
    ),
    paymentSystems: Type.Array(
      Type.Object({
        id: uuid('What `paymentSystemsId` of a campaign names'),
        code: text('Its code', 'visa'),
        name: text('Its name', 'Visa'),
      }),
      { description: 'By name' },
    ),
  },
  { description: 'The platform’s directory' },
)

export const directoryRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  authenticate(app, deps)

  app.get(
    '/directory',
    {
      schema: {
        tags: ['Portal'],
        security: secured,
        operationId: 'readDirectory',
        summary: 'Countries and payment systems',
        description: 'The countries and payment systems that a campaign may name. For every account.',
        response: { 200: Directory, ...cashbackErrors({ 400: 'A query was given' }) },
      },
    },
    async () => listDirectory(deps.database),
  )
}
