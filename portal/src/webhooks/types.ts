/** Endpoints, deliveries and events as the platform gives them. */
import type { components } from '../api/schema/partner.ts'

type Schemas = components['schemas']

export type Endpoint = Schemas['Endpoint']
export type Delivery = Schemas['Delivery']
export type Attempt = Delivery['attempts'][number]
export type FeedEvent = Schemas['Event']
export type ReplayAsked = Schemas['ReplayEventsBody']
