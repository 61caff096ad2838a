import { Button, FileButton, Group, Image, Stack, TextInput } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { useRef } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { BannerLink } from '../detail/banner-link.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'

const maxBytes = 256 * 1024
const types = 'image/png,image/jpeg,image/webp,image/gif'

/** The pictures of the card: addresses, or small files that are stored in the campaign itself. */
export function BannersSection(part: FormPart) {
  const texts = useTexts(formTexts)
  return (
    <FormSection
      name="banners"
      title={texts.sections.banners}
      isOpen={part.isOpen}
      fields={['bannerSmall', 'bannerBig']}
    >
      <Banner {...part} name="bannerSmall" />
      <Banner {...part} name="bannerBig" />
    </FormSection>
  )
}

function Banner({ form, isOpen, name }: FormPart & { name: 'bannerSmall' | 'bannerBig' }) {
  const texts = useTexts(formTexts).banner
  const format = useFormat()
  const value = form.values[name]
  const isFile = value.startsWith('data:')
  const forgetFile = useRef<() => void>(null)
  const take = async (file: File | null) => {
    // Clears the input. Otherwise the browser reports nothing if the person chooses the same file again.
    forgetFile.current?.()
    if (!file) return
    if (!types.split(',').includes(file.type)) return form.setFieldError(name, texts.notPicture)
    if (file.size > maxBytes) return form.setFieldError(name, texts.tooLarge(format.bytes(file.size)))
    form.setFieldValue(name, await dataUri(file))
    form.clearFieldError(name)
  }
  const remove = () => {
    form.setFieldValue(name, '')
    // The pressed button is gone now.
    form.getInputNode(name)?.focus()
  }
  return (
    <Stack gap="xs">
      <TextInput
        label={texts[name]}
        description={texts.hint}
        disabled={!isOpen(name)}
        type="url"
        {...form.getInputProps(name)}
        {...(isFile && { value: texts.chosen, readOnly: true, type: 'text' })}
      />
      <Group gap="sm">
        <FileButton accept={types} resetRef={forgetFile} onChange={take} disabled={!isOpen(name)}>
          {({ onClick }) => (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconPhoto size={15} aria-hidden />}
              disabled={!isOpen(name)}
              onClick={onClick}
            >
              {texts.choose}
            </Button>
          )}
        </FileButton>
        {value !== '' && (
          <Button variant="subtle" size="xs" disabled={!isOpen(name)} onClick={remove}>
            {`${texts.remove}: ${texts[name]}`}
          </Button>
        )}
      </Group>
      {isFile ? <Image src={value} alt="" mah={120} w="auto" radius="md" /> : <BannerLink address={value} />}
    </Stack>
  )
}

function dataUri(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read'))
    reader.readAsDataURL(file)
  })
}
