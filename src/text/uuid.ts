/** A UUID as PostgreSQL writes it, in any case: what else the database reads as one, such as braces, is none to us. */
export const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
