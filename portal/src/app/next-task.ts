/** Lets the browser answer what has come meanwhile: what follows runs in a task of its own. */
export const nextTask = (): Promise<void> => new Promise(resolve => setTimeout(resolve))
