/**
 * By this the Content-Security-Policy knows styles that our own scripts write into the page: the platform makes a new one for each
 * answer. Libraries that write `<style>` elements have to be given it.
 */
import { setNonce } from 'get-nonce'

export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

// What keeps the page from scrolling behind a dialog asks here.
setNonce(styleNonce)
