import { isPrinting, onPrintingChange } from '../ui/printing.ts'

/** Prints pages of the dark mode in light colours, because their pale text is hard to read on white paper. */
export function printInLight(): void {
  const { dataset } = document.documentElement
  let onScreen: string | undefined
  onPrintingChange(() => {
    if (isPrinting()) {
      onScreen ??= dataset.mantineColorScheme
      dataset.mantineColorScheme = 'light'
    } else if (onScreen !== undefined) {
      dataset.mantineColorScheme = onScreen
      onScreen = undefined
    }
  })
}
