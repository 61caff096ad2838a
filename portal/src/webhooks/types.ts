/** Types of endpoints, deliveries and events as the API returns them. */
import type { components } from '../api/schema/partner.ts'

type Schemas = components['schemas']

export type Endpoint = Schemas['Endpoint']
export type Delivery = Schemas['Delivery']
export type Attempt = Delivery['attempts'][number]
export type FeedEvent = Schemas['Event']
export type ReplayParams = Schemas['ReplayEventsBody']
