/** How the activation data of an eSIM reaches the customer of a bank (contract/esim.md, "The e-mail"). */
export const deliveryModes = ['local', 'qr_email'] as const
export type DeliveryMode = (typeof deliveryModes)[number]
