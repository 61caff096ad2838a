/** Starts the portal in the browser. */
import '@fontsource-variable/inter/wght.css'
import '@mantine/core/styles.layer.css'
import '@mantine/notifications/styles.layer.css'
import './ui/global.css'
import './ui/forced-colours.css'
import './app/first-screen.css'
import { printInLight } from './app/print.ts'
import { start } from './app/start.tsx'

const place = document.getElementById('portal')
if (!place) throw new Error('The page has no place for the portal')
printInLight()
void start(place)
