// Sets light or dark, the language and the first screen before anything is drawn. A file of its own: the page's policy takes no inline
// scripts.
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
  // Without storage the page starts light and sets both itself.
}

// The files of the first page and what it reads (build/ahead.ts), for whoever was here last. The portal asks for them again once it runs,
// and gets these.
function fetchAhead(files, person) {
  const homes = { retailer: '/merchant', bank: '/bank', platform: '/operator' }
  const path = location.pathname.slice('/app'.length).replace(/\/$/, '')
  const first = person === null ? '/login' : path || homes[person.split(':')[0]]
  const role = localStorage.getItem('perkline.role')
  // Others read something else: a bank's viewer sees no campaigns, and lists are filtered or of another length.
  const isUsual =
    role !== null && role !== 'VIEWER' && location.search === '' && !localStorage.getItem('perkline.page-size')
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

// The portal runs once the first screen is painted; each of its files in a task of its own, so that the browser answers between them.
async function run() {
  for (const { href } of document.querySelectorAll('link[rel=modulepreload][data-first]')) {
    await import(href)
    await new Promise(resolve => setTimeout(resolve))
  }
}
addEventListener('DOMContentLoaded', () => {
  // What is not seen is not painted, so nothing would ever come after it.
  if (document.hidden) run()
  else requestAnimationFrame(() => setTimeout(run))
})
