/** Pages in dark mode are printed in light: their pale text would hardly be legible on white paper. */
export function printInLight(): void {
  const { dataset } = document.documentElement
  let onScreen: string | undefined
  matchMedia('print').addEventListener('change', ({ matches: isPrinting }) => {
    if (isPrinting) {
      onScreen = dataset.mantineColorScheme
      dataset.mantineColorScheme = 'light'
    } else if (onScreen !== undefined) dataset.mantineColorScheme = onScreen
  })
}
