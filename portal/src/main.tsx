/** Starts the portal in the browser. */
import '@fontsource-variable/inter/wght.css'
import '@mantine/core/styles.layer.css'
import '@mantine/notifications/styles.layer.css'
import './ui/global.css'
import './app/first-screen.css'
import { start } from './app/start.tsx'

// The platform has got a new version since this page was loaded, so the page's next part is not there any more: load the page anew,
// but not again and again.
addEventListener('vite:preloadError', () => {
  const key = 'perkline.reloaded-at'
  const last = Number(sessionStorage.getItem(key) ?? 0)
  if (Date.now() - last < 60_000) return
  sessionStorage.setItem(key, String(Date.now()))
  location.reload()
})

const place = document.getElementById('portal')
if (!place) throw new Error('The page has no place for the portal')
void start(place)
