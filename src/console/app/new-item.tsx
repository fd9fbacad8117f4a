import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import type { Item } from './api.ts'
import { keyOf, type Collection } from './collections.ts'
import { FormFields } from './form.tsx'
import { useSaving } from './form-saving.tsx'
import { useForm } from './form-state.tsx'
import { dataPlace, type ItemPlace, type ItemVariant } from './item-place.ts'
import { endGuards, go } from './route.ts'
import { noteOf, Summary } from './saving.tsx'
import { announce, Heading } from './screen.tsx'

interface NewOptions extends ItemVariant {
  readonly collection: Collection
  readonly title?: string
  /** What the button says. */
  readonly label?: string
  /** Called with the new item instead of showing it. */
  readonly onAdded?: (item: Item) => void
}

/** The form of a new item. */
export function NewItem(options: NewOptions): VNode {
  const { collection, at = dataPlace(collection), title = 'New item', label = 'Add item' } = options
  const { inputs, without } = options
  const form = useForm(collection.insertable, undefined)
  const element = useRef<HTMLFormElement>(null)
  const saving = useSaving(form, element)
  const { isBusy } = saving
  const submit = async (): Promise<void> => {
    const saved = await saving.submit({ path: collection.path })
    if (saved?.kind !== 'saved') return
    endGuards()
    const { item } = saved.reply.envelope
    if (item !== undefined && options.onAdded !== undefined) {
      options.onAdded(item)
      return
    }
    announce(noteOf(saved, 'Added.'))
    go(addressOf(collection, at, item))
  }
  return (
    <>
      <Heading title={title} above={<a href={at.list}>{at.name}</a>} />
      <form
        ref={element}
        class="item"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void submit()
        }}
      >
        <Summary messages={form.problems['']} />
        <FormFields {...{ collection, form, inputs, without }} fields={collection.insertable} />
        <div class="bar">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Saving…' : label}
          </button>
          <a class="button" href={at.list}>
            Cancel
          </a>
        </div>
      </form>
    </>
  )
}

function addressOf(collection: Collection, at: ItemPlace, item: Item | undefined): string {
  const isShown = collection.can.read && collection.key.length > 0 && item !== undefined
  return isShown ? at.itemOf(keyOf(collection, item)) : at.list
}
