import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAdministration } from './access.ts'
import { read } from './api.ts'
import type { InputOptions } from './item-place.ts'
import { Picker } from './picker.tsx'
import { visible } from './values.ts'

/** Returns the list that an input has as JSON text. */
function listOf(text: string): readonly string[] {
  try {
    const value = JSON.parse(text) as unknown
    return Array.isArray(value) ? value.map(String) : []
  } catch {
    return []
  }
}

/** The roles of a user: the roles that definitions name, and others that are entered. */
export function RolesInput({ id, text, change, isInvalid, describedBy }: InputOptions): VNode {
  const named = useRoleNames()
  const chosen = listOf(text)
  const choose = (roles: readonly string[]): void => change(JSON.stringify(roles))
  const toggle = (role: string): void =>
    choose(chosen.includes(role) ? chosen.filter((one) => one !== role) : [...chosen, role])
  return (
    <div class="roles">
      <fieldset
        class="checks"
        id={id}
        tabIndex={-1}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
      >
        <legend class="hidden">Roles</legend>
        {[...new Set([...named, ...chosen])].map((role) => (
          <label key={role}>
            <input type="checkbox" checked={chosen.includes(role)} onChange={() => toggle(role)} />
            {visible(role)}
          </label>
        ))}
      </fieldset>
      <OtherRole add={(role) => choose([...new Set([...chosen, role])])} />
    </div>
  )
}

/** Returns the roles that definitions name. */
function useRoleNames(): readonly string[] {
  return useNames('roles', 'role', '$fields=role') ?? []
}

/** Returns the values of a field of a collection of administration; undefined if the caller can't read them. */
function useNames(name: string, field: string, query: string): readonly string[] | undefined {
  const collection = useAdministration(name)
  const isListed = collection?.can.list === true
  const [names, setNames] = useState<readonly string[] | undefined>([])
  useEffect(() => {
    if (!isListed) return undefined
    const controller = new AbortController()
    const parameters = new URLSearchParams(query)
    parameters.set('$limit', String(collection.maximum))
    read(collection.path, parameters, controller.signal).then(
      ({ envelope }) => setNames((envelope.items ?? []).map((item) => String(item[field]))),
      () => {
        if (!controller.signal.aborted) setNames(undefined)
      },
    )
    return () => controller.abort()
  }, [collection?.path])
  return isListed ? names : undefined
}

function OtherRole({ add }: { readonly add: (role: string) => void }): VNode {
  const [text, setText] = useState('')
  const enter = (): void => {
    if (text.trim() !== '') add(text.trim())
    setText('')
  }
  return (
    <div class="line">
      <input
        aria-label="Another role"
        placeholder="Another role"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          enter()
        }}
      />
      <button type="button" onClick={enter}>
        Add role
      </button>
    </div>
  )
}

/** A new password. It is never shown, and no response contains it. */
export function PasswordInput({ id, text, change, isInvalid, describedBy }: InputOptions): VNode {
  return (
    <input
      id={id}
      type="password"
      autocomplete="new-password"
      aria-invalid={isInvalid}
      aria-describedby={describedBy}
      value={text}
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
}

/** The name of a user, with a search. */
export function UserInput({ id, text, change, isInvalid, describedBy }: InputOptions): VNode {
  const users = useAdministration('users')
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <input
        id={id}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {users?.can.list === true && (
        <button type="button" onClick={() => setOpen(true)}>
          Choose
        </button>
      )}
      {isOpen && users && (
        <Picker
          target={users}
          onClose={() => setOpen(false)}
          choose={([user = '']) => {
            change(user)
            setOpen(false)
          }}
        />
      )}
    </>
  )
}

/** The provider of a new key, by its name. If only one is enabled, it is the default of the service. */
export function ProviderInput({ id, text, change, isInvalid, describedBy }: InputOptions): VNode {
  const names = useProviderNames()
  const shared = { id, 'aria-invalid': isInvalid, 'aria-describedby': describedBy, value: text }
  if (names === undefined)
    return (
      <input
        {...shared}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => change(event.currentTarget.value)}
      />
    )
  const [only, ...others] = names
  const isChosen = only !== undefined && others.length === 0
  return (
    <select {...shared} onChange={(event) => change(event.currentTarget.value)}>
      <option value="">{isChosen ? visible(only) : '–'}</option>
      {!isChosen &&
        names.map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
    </select>
  )
}

/** Returns the names of the enabled providers of keys. */
function useProviderNames(): readonly string[] | undefined {
  const query = 'type=api_key&enabled=true&$fields=name'
  return useNames('providers', 'name', query)
}

const presets: readonly (readonly [minutes: string, name: string])[] = [
  ['', 'As the provider says'],
  ['60', '1 hour'],
  ['1440', '1 day'],
  ['10080', '7 days'],
  ['43200', '30 days'],
  ['129600', '90 days'],
  ['525600', '1 year'],
]

const units: readonly (readonly [minutes: number, name: string])[] = [
  [1, 'minutes'],
  [60, 'hours'],
  [1440, 'days'],
]

/** When a key expires: a preset, or a time of its own. The text is in minutes. */
export function ExpiryInput({ id, text, change, isInvalid, describedBy }: InputOptions): VNode {
  const [isCustom, setCustom] = useState(!presets.some(([minutes]) => minutes === text))
  const [amount, setAmount] = useState(text)
  const [unit, setUnit] = useState(1)
  const enter = (wanted: string, minutes: number): void => {
    setAmount(wanted)
    setUnit(minutes)
    const number = Number(wanted)
    change(wanted !== '' && Number.isFinite(number) ? String(number * minutes) : wanted)
  }
  return (
    <>
      <select
        id={id}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        value={isCustom ? 'custom' : text}
        onChange={(event) => {
          const { value } = event.currentTarget
          setCustom(value === 'custom')
          if (value === 'custom') enter('', unit)
          else change(value)
        }}
      >
        {presets.map(([minutes, name]) => (
          <option key={minutes} value={minutes}>
            {name}
          </option>
        ))}
        <option value="custom">Another time</option>
      </select>
      {isCustom && (
        <>
          <input
            class="short"
            aria-label="Expires in"
            inputMode="numeric"
            value={amount}
            onInput={(event) => enter(event.currentTarget.value, unit)}
          />
          <select
            aria-label="Unit"
            value={String(unit)}
            onChange={(event) => enter(amount, Number(event.currentTarget.value))}
          >
            {units.map(([minutes, name]) => (
              <option key={minutes} value={String(minutes)}>
                {name}
              </option>
            ))}
          </select>
        </>
      )}
    </>
  )
}
