/**
 * The portal's look: Perkline's green, calm greys, and one typeface for both alphabets. The contrast is sufficient in
 * light and in dark.
 */
import { type CSSVariablesResolver, createTheme, localStorageColorSchemeManager } from '@mantine/core'

/** `public/first-paint.js` reads the same key before anything is drawn. */
export const colourSchemeManager = localStorageColorSchemeManager({ key: 'perkline.colour-scheme' })

export const theme = createTheme({
  primaryColor: 'perk',
  primaryShade: { light: 7, dark: 6 },
  colors: {
    perk: [
      '#eaf7f0',
      '#d2eedf',
      '#a5dec1',
      '#74cda1',
      '#4abd86',
      '#28a370',
      '#158256',
      '#0d6e4b',
      '#0b583d',
      '#083f2c',
    ],
    dark: [
      '#dbe3df',
      '#bcc7c2',
      '#adb9b3',
      '#6f7c76',
      '#3b4742',
      '#2b3530',
      '#1f2824',
      '#151d1a',
      '#0f1613',
      '#0a0f0d',
    ],
  },
  black: '#14201b',
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  headings: {
    fontFamily: "'Inter Variable', system-ui, sans-serif",
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1.1875rem', lineHeight: '1.35' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
    },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Alert: { defaultProps: { variant: 'light' } },
    Badge: {
      defaultProps: { variant: 'light', size: 'lg' },
      styles: { root: { textTransform: 'none', fontWeight: 600 } },
    },
    // Mantine makes a button's line only as high as the font, which cuts off the lower parts of letters such as g.
    Button: { styles: { label: { lineHeight: 1.35 } } },
    Card: { defaultProps: { withBorder: true, padding: 'lg', radius: 'lg' } },
    Menu: { defaultProps: { shadow: 'md', withInitialFocusPlaceholder: false } },
    Modal: {
      defaultProps: { radius: 'lg' },
      styles: { title: { fontWeight: 650, fontSize: '1.1875rem', lineHeight: 1.35, overflowWrap: 'anywhere' } },
    },
    // Screen readers would announce the header element of a dialog as the header of the page. This role prevents that.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    Notification: { styles: { description: { color: 'var(--mantine-color-text)' } } },
    PasswordInput: { defaultProps: { visibilityToggleFocusable: true } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
  },
})

/** Replaces shades of Mantine that have too little contrast on the portal's backgrounds. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#58655f',
    '--mantine-color-placeholder': '#6a756f',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled-hover': '#b02323',
    '--mantine-color-default-border': '#cdd5d1',
    '--mantine-color-yellow-light-color': '#754c00',
    '--mantine-color-orange-light-color': '#8f3a00',
  },
  dark: {
    '--mantine-color-perk-light': '#11392a',
    '--mantine-color-perk-light-hover': '#174935',
    '--mantine-color-red-light': '#3d181b',
    // The text colour of red buttons, such as "Revoke". With Mantine's own shade, these would look like other buttons.
    '--mantine-color-red-light-color': 'var(--mantine-color-red-4)',
    '--mantine-color-orange-light': '#3b2412',
    '--mantine-color-yellow-light': '#352b0f',
    '--mantine-color-blue-light': '#12293c',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled-hover': '#b02323',
  },
})
