import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { read, type Item } from './api.ts'
import { ask } from './ask.tsx'
import { itemPath, type Collection } from './collections.ts'
import { FormFields } from './form.tsx'
import { useSaving } from './form-saving.tsx'
import { useForm, type FormState } from './form-state.tsx'
import { dataPlace, type ItemPlace, type ItemVariant } from './item-place.ts'
import { endGuards, go } from './route.ts'
import { noteOf, Summary } from './saving.tsx'
import { announce, Heading, Loading, LoadProblem } from './screen.tsx'
import { shortened } from './values.ts'

interface Stored {
  readonly item: Item
  readonly etag: string | undefined
}

interface ItemOptions extends ItemVariant {
  readonly collection: Collection
  readonly itemKey: readonly string[]
  /** Another value reads the item again. */
  readonly version?: number
  readonly children?: ComponentChildren
}

/** The screen of a stored item. */
export function ItemScreen(options: ItemOptions): VNode {
  const { collection, itemKey, at = dataPlace(collection), version, children } = options
  const [stored, setStored] = useState<Stored | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const path = collection.isSingleton ? collection.path : itemPath(collection, itemKey)
  const load = (signal?: AbortSignal): Promise<void> =>
    read(path, undefined, signal).then(
      ({ envelope, etag }) => {
        setError(undefined)
        setStored({ item: envelope.item ?? {}, etag })
      },
      (reason: unknown) => {
        if (signal?.aborted !== true) setError(reason)
      },
    )
  useEffect(() => {
    const controller = new AbortController()
    void load(controller.signal)
    return () => controller.abort()
  }, [path, version])
  const title =
    stored === undefined
      ? undefined
      : (options.titleOf ?? titleOf(collection, itemKey))(stored.item)
  return (
    <>
      <Heading
        title={title ?? nameOf(collection, itemKey)}
        above={collection.isSingleton ? collection.application : <a href={at.list}>{at.name}</a>}
      />
      {error !== undefined && <LoadProblem error={error} repeat={() => void load()} />}
      {stored === undefined && error === undefined && <Loading />}
      {stored && children}
      {stored && (
        <ItemForm
          {...options}
          {...{ at, path, stored }}
          change={setStored}
          reload={() => void load()}
        />
      )}
      {stored && options.below?.(stored.item)}
    </>
  )
}

function nameOf(collection: Collection, key: readonly string[]): string {
  return collection.isSingleton ? collection.name : key.join(', ')
}

/** Returns a function that names an item by its key and the field for that. */
function titleOf(collection: Collection, key: readonly string[]): (item: Item) => string {
  const { title, readable } = collection
  const name = nameOf(collection, key)
  return (item) => {
    const value =
      title === undefined || collection.key.includes(title)
        ? undefined
        : shortened(readable.get(title), item[title])
    return value === undefined ? name : `${name} · ${value}`
  }
}

interface FormOptions extends ItemVariant {
  readonly collection: Collection
  readonly at: ItemPlace
  readonly path: string
  readonly stored: Stored
  readonly change: (stored: Stored) => void
  readonly reload: () => void
}

const deletion = {
  label: 'Delete',
  question: 'Delete the item?',
  text: "It can't be restored.",
}

/** What the form of an item does, and its state. */
interface ItemActions {
  readonly form: FormState
  readonly isBusy: boolean
  /** Whether somebody else has changed the item since it was read. */
  readonly isStale: boolean
  readonly submit: (ifMatch?: string) => Promise<void>
  readonly remove: () => Promise<void>
}

function useItemActions(
  { collection, at, path, stored, change, remove: removal = deletion }: FormOptions,
  element: { readonly current: HTMLFormElement | null },
): ItemActions {
  const { item, etag } = stored
  const form = useForm(collection.updatable, item)
  const saving = useSaving(form, element)
  const [isStale, setStale] = useState(false)
  useLayoutEffect(() => setStale(false), [stored])
  const version = collection.hasVersions ? etag : undefined
  const submit = async (ifMatch = version): Promise<void> => {
    const saved = await saving.submit({ path, ifMatch })
    if (saved?.kind === 'rejected') setStale(saved.status === 412)
    if (saved?.kind !== 'saved') return
    setStale(false)
    const { envelope, etag: next } = saved.reply
    change({ item: { ...item, ...envelope.item }, etag: next })
    announce(noteOf(saved, 'Saved.'))
  }
  const remove = async (): Promise<void> => {
    form.clear()
    const isSure = await ask({
      title: removal.question,
      text: <p>{removal.text}</p>,
      confirm: removal.label,
      isDangerous: true,
    })
    if (!isSure) return
    const saved = await saving.attempt({ method: 'DELETE', path, ifMatch: version })
    if (saved.kind === 'rejected') {
      setStale(saved.status === 412)
      saving.reject(saved)
    }
    if (saved.kind !== 'saved') return
    endGuards()
    announce('Done.')
    go(at.list)
  }
  return { form, isBusy: saving.isBusy, isStale, submit, remove }
}

function ItemForm(options: FormOptions): VNode {
  const { collection, stored, reload, inputs, without, remove: removal = deletion } = options
  const element = useRef<HTMLFormElement>(null)
  const { form, isBusy, isStale, submit, remove } = useItemActions(options, element)
  const { can, updatable } = collection
  return (
    <form
      ref={element}
      class="item"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy && form.isChanged) void submit()
      }}
    >
      <Summary messages={form.problems['']} />
      {isStale && (
        <div class="buttons">
          <button type="button" onClick={reload}>
            Load the stored version
          </button>
          <button type="button" class="danger" onClick={() => void submit('*')}>
            Overwrite it
          </button>
        </div>
      )}
      <FormFields
        collection={collection}
        fields={updatable}
        form={form}
        item={stored.item}
        inputs={inputs}
        without={without}
      />
      {(can.update || can.remove) && (
        <div class="bar">
          {can.update && (
            <button type="submit" class="primary" disabled={isBusy || !form.isChanged}>
              {isBusy ? 'Saving…' : 'Save'}
            </button>
          )}
          {can.remove && (
            <button type="button" class="danger" disabled={isBusy} onClick={() => void remove()}>
              {removal.label}
            </button>
          )}
        </div>
      )}
    </form>
  )
}
