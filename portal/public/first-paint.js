// Sets light or dark, the language and the first screen before anything is drawn. It is a separate file, because the
// page's Content-Security-Policy allows no inline scripts.
const page = document.documentElement
const { ahead } = document.currentScript.dataset
// Hides the message "not loaded" (build/first-screen.ts), which is visible without this script or without the stylesheet.
page.setAttribute('data-first', '')
try {
  const chosen = localStorage.getItem('perkline.colour-scheme')
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  page.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
  const languages = [localStorage.getItem('perkline.language'), ...navigator.languages].map(each => each?.slice(0, 2))
  page.lang = languages.find(each => each === 'uk' || each === 'en') ?? 'en'
  const person = localStorage.getItem('perkline.session')
  page.setAttribute('data-first', person === null ? 'login' : 'frame')
  if (ahead) fetchAhead(JSON.parse(ahead), person)
} catch {
  // When the browser forbids access to its storage, the page starts light. The portal then sets the colours and the
  // language itself.
}

// Requests the files and the data of the first page (build/ahead.ts) for the person who used this browser last. When the
// portal runs, it requests the same addresses, and the browser uses these answers.
function fetchAhead(files, person) {
  const homes = { retailer: '/merchant', bank: '/bank', platform: '/operator' }
  const path = location.pathname.slice('/app'.length).replace(/\/$/, '')
  const home = homes[person?.split(':')[0]]
  const first = person === null ? '/login' : path || home
  const role = localStorage.getItem('perkline.role')
  // `build/ahead.ts` knows only the reads of the usual first page. Nobody may read the pages of another kind
  // of account, a bank's viewer sees no campaigns, and filters in the address or another page size lead to other reads.
  const isOwn = first === home || first?.startsWith(`${home}/`)
  const isUsual =
    isOwn && role !== null && role !== 'VIEWER' && location.search === '' && !localStorage.getItem('perkline.page-size')
  for (const file of files[first] ?? files['']) {
    const isRead = !file.startsWith('/app/')
    if (isRead && !isUsual && file !== '/portal/session') continue
    const link = document.createElement('link')
    const kind = /\.js$/.test(file)
      ? { rel: 'modulepreload', fetchPriority: 'low' }
      : { rel: 'preload', as: isRead ? 'fetch' : 'style' }
    document.head.append(Object.assign(link, kind, { crossOrigin: '', href: file }))
  }
}

// Runs the portal. Each of its files runs in a task of its own, so that the browser can respond to input in between.
async function run() {
  try {
    for (const { href } of document.querySelectorAll('link[rel=modulepreload][data-first]')) {
      if (isMissing) return
      await import(href)
      await new Promise(resolve => setTimeout(resolve))
    }
  } catch (error) {
    console.error(error)
    await handleMissing()
  }
}
addEventListener('DOMContentLoaded', () => {
  // A hidden page is not painted, so waiting for the paint would never end.
  if (document.hidden) run()
  else requestAnimationFrame(() => setTimeout(run))
})

let isMissing = false
// Events of files that are missing do not bubble, so this listens to them on their way down.
addEventListener('error', onMissingStyle, true)
function onMissingStyle({ target }) {
  if (!(target instanceof HTMLLinkElement) || !target.matches('[rel=stylesheet][data-first]')) return
  // Without its styles, the first screen would show all of its texts at once.
  page.hidden = true
  handleMissing()
}

// One of the first files could not be loaded, because the connection is lost, or because another version of the platform
// has answered: during an upgrade behind a balancer, the next process has files with other names. With a connection the
// page reloads itself. If it has just done so, it shows the message "not loaded".
async function handleMissing() {
  if (isMissing) return
  isMissing = true
  const isAnswered = await fetch('/app/icon.svg', { cache: 'no-store', signal: AbortSignal.timeout(10_000) }).then(
    () => true,
    () => false,
  )
  if (isAnswered && isReloadDue()) location.reload()
  else showNotLoaded(isAnswered)
}

// The same limit as that of `isReloadDue` in src/app/error-pages.tsx, which belongs to the files that may be missing.
// Without storage nothing would limit the reloads.
function isReloadDue() {
  try {
    const isDue = Date.now() - Number(sessionStorage.getItem('perkline.reloaded-at') ?? 0) > 60_000
    if (isDue) sessionStorage.setItem('perkline.reloaded-at', String(Date.now()))
    return isDue
  } catch {
    return false
  }
}

function showNotLoaded(isUpdated) {
  if (document.readyState === 'loading')
    return addEventListener('DOMContentLoaded', () => showNotLoaded(isUpdated), { once: true })
  const message = document.querySelector('.not-loaded')
  for (const part of message.querySelectorAll('[lang]')) if (part.lang !== page.lang) part.remove()
  for (const part of message.querySelectorAll(isUpdated ? '[data-if=lost]' : '[data-if=updated]')) part.remove()
  for (const part of message.querySelectorAll('[hidden]')) part.hidden = false
  // A reload keeps the address. Sending the form, which works without this script, drops the query.
  message.addEventListener('submit', event => {
    event.preventDefault()
    location.reload()
  })
  if (!isUpdated) addEventListener('online', () => location.reload())
  page.removeAttribute('data-first')
  document.getElementById('portal').replaceWith(message)
  page.hidden = false
}
