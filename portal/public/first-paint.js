// Sets light or dark and the language before anything is drawn. A file of its own: the page's policy takes no inline scripts.
try {
  const chosen = localStorage.getItem('perkline.colour-scheme')
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
  document.documentElement.lang = localStorage.getItem('perkline.language') || navigator.language.slice(0, 2)
} catch {
  // Without storage the page starts light and sets both itself.
}
