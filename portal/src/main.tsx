/** Starts the portal in the browser. */
import '@mantine/core/styles.layer.css'
import { MantineProvider, Title } from '@mantine/core'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { styleNonce } from './app/style-nonce.ts'
import { colourSchemeManager, cssVariables, theme } from './app/theme.ts'
import { PreferencesProvider } from './i18n/preferences.tsx'

const place = document.getElementById('portal')
if (!place) throw new Error('The page has no place for the portal')
createRoot(place).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      colorSchemeManager={colourSchemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <PreferencesProvider>
        <Title>Perkline</Title>
      </PreferencesProvider>
    </MantineProvider>
  </StrictMode>,
)
