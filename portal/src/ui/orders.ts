/** What the pages about orders of all areas share. */

/** The statuses by which lists of orders are filtered. */
export const orderStatuses = ['reserved', 'confirmed', 'cancelled', 'expired'] as const

/** Whether the text is a complete order id. The platform finds orders only by their complete id. */
export const isOrderId = (words: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(words)
