/**
 * A UUID as PostgreSQL writes it, in upper or lower case. PostgreSQL also reads other forms, for example with braces;
 * we refuse them.
 */
export const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const isUuid = (text: string): boolean => uuidForm.test(text)
