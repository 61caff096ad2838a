// Sets light or dark, the language and the first screen before anything is drawn. It is a separate file, because the
// page's Content-Security-Policy allows no inline scripts.
const page = document.documentElement
const { ahead } = document.currentScript.dataset
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
  for (const { href } of document.querySelectorAll('link[rel=modulepreload][data-first]')) {
    await import(href)
    await new Promise(resolve => setTimeout(resolve))
  }
}
addEventListener('DOMContentLoaded', () => {
  // A hidden page is not painted, so waiting for the paint would never end.
  if (document.hidden) run()
  else requestAnimationFrame(() => setTimeout(run))
})
