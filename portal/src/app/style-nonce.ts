/**
 * The nonce with which the Content-Security-Policy accepts styles that our scripts write into the page. The platform
 * makes a new one for each answer. Libraries that write `<style>` elements need it.
 */
import { setNonce } from 'get-nonce'

export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

// The library that stops the page from scrolling behind a dialog reads the nonce here.
setNonce(styleNonce)
