// Sets light or dark, the language and the first screen before anything is drawn. A file of its own: the page's policy takes no inline
// scripts.
const page = document.documentElement
try {
  const chosen = localStorage.getItem('perkline.colour-scheme')
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  page.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
  const languages = [localStorage.getItem('perkline.language'), ...navigator.languages].map(each => each?.slice(0, 2))
  page.lang = languages.find(each => each === 'uk' || each === 'en') ?? 'en'
  page.setAttribute('data-first', localStorage.getItem('perkline.session') === null ? 'login' : 'frame')
} catch {
  // Without storage the page starts light and sets both itself.
}

// The portal runs once the first screen is painted; each of its files in a task of its own, so that the browser answers between them.
async function run() {
  for (const { href } of document.querySelectorAll('link[rel=modulepreload]')) {
    await import(href)
    await new Promise(resolve => setTimeout(resolve))
  }
}
addEventListener('DOMContentLoaded', () => {
  // What is not seen is not painted, so nothing would ever come after it.
  if (document.hidden) run()
  else requestAnimationFrame(() => setTimeout(run))
})
