/**
 * The content that is visible before the portal's script runs (`src/app/first-screen.css`): the login page without its
 * fields, or, for people who are logged in, the empty frame of the pages. `public/first-paint.js` chooses one of them and
 * its language. The portal's first page replaces it.
 *
 * With it comes the message that the portal could not be loaded. It is visible when the stylesheet or `public/first-paint.js` itself
 * is missing, and that script shows it when another of the first files is missing.
 */
import type { Plugin } from 'vite'
import { appTexts } from '../src/app/texts.ts'
import { type Language, languages } from '../src/i18n/language.ts'
import { uiTexts } from '../src/ui/texts.ts'

type LoginTexts = (typeof appTexts)['en']['login']

export function firstScreen(): Plugin {
  return {
    name: 'first-screen',
    transformIndexHtml: html => html.replace('<!-- first screen -->', `${login}${frame}${notLoaded}`),
  }
}

/** Makes a paragraph for each language; the page shows only the one in its language. */
const words = (name: string, text: (texts: LoginTexts) => string): string =>
  languages.map(language => `<p class="${name}" lang="${language}">${text(appTexts[language].login)}</p>`).join('')

const mark = (size: number): string =>
  `<svg width="${size}" height="${size}" viewBox="0 0 32 32"><rect width="32" height="32" rx="8"/><path d="M7 23 16 9l9 14"/></svg>`
const logo = `<div class="first-logo">${mark(28)}Perkline</div>`

const login = `<div class="first-login" aria-hidden="true">
      <div class="first-brand">${logo}${words('first-pitch', ({ pitch }) => pitch)}</div>
      <div class="first-side"><div class="first-box">
        <div class="first-mark">${mark(44)}</div>
        ${words('first-title', ({ title }) => title)}
        ${words('first-lead', ({ lead }) => lead)}
        <div class="first-form"><i></i><i></i><i></i><i></i></div>
      </div></div>
    </div>`

const frame = `<div class="first-frame" aria-hidden="true">
      <div class="first-header">${logo}</div>
      <div class="first-navbar"></div>
      <div class="first-page"><i></i><i></i><i></i></div>
    </div>`

/** Without scripts, the message is in both languages, and speaks of the connection. The button sends a form, so it reloads the page. */
const notLoaded = `<main class="not-loaded"><form>${languages.map(messageIn).join('')}</form></main>`

function messageIn(language: Language): string {
  const { title, text } = appTexts[language].notLoaded
  const { retry, reload, errors } = uiTexts[language]
  return `<section lang="${language}">
      <h1>${title}</h1>
      <p data-if="lost">${text}</p><p data-if="updated" hidden>${errors.updated}</p>
      <button data-if="lost">${retry}</button><button data-if="updated" hidden>${reload}</button>
    </section>`
}
