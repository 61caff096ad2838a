/** Prints pages of the dark mode in light colours, because their pale text is hard to read on white paper. */
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
