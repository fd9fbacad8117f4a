import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { adminScreens, type AdminScreen } from './admin-screens.tsx'
import type { Collection } from './collections.ts'
import { Grid } from './grid.tsx'
import { ItemScreen } from './item.tsx'
import { NewItem } from './new-item.tsx'
import { hashOf, mayLeave, partsOf, route } from './route.ts'
import { Empty, Heading } from './screen.tsx'
import { session, signOut } from './session.ts'
import { administration, settings } from './settings.ts'
import { visible } from './values.ts'

type Collections = ReadonlyMap<string, Collection>

/** The page of a person who has signed in: the menu and a screen. */
export function Shell({ collections }: { readonly collections: Collections }): VNode {
  const current = route.use()
  const [isOpen, setOpen] = useState(false)
  const [first, ...rest] = current.segments
  const place = current.segments.join('/')
  useLayoutEffect(() => setOpen(false), [place])
  return (
    <div class={isOpen ? 'shell is-open' : 'shell'}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <Menu collections={collections} isOpen={isOpen} toggle={() => setOpen(!isOpen)} />
      <main id="main">
        <Screen
          key={place}
          collections={collections}
          name={first ?? ''}
          segments={rest}
          query={current.query}
        />
      </main>
    </div>
  )
}

// The hash is the route.
function skip(event: Event): void {
  event.preventDefault()
  document.querySelector('h1')?.focus()
}

interface ScreenOptions {
  readonly collections: Collections
  readonly name: string
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

function Screen({ collections, name, segments, query }: ScreenOptions): VNode {
  if (name === '') return <Home collections={collections} />
  const administrative = adminScreens.find((one) => one.name === name)
  const administered = collections.get(`${administration}/${administrative?.collection ?? ''}`)
  if (administrative && administered)
    return <administrative.Screen collection={administered} segments={segments} query={query} />
  const [application, endpoint, key] = segments.map(partsOf)
  const collection = collections.get(`${application?.[0] ?? ''}/${endpoint?.[0] ?? ''}`)
  if (collection !== undefined) {
    if (name === 'data' && !collection.isSingleton)
      return collection.can.list ? (
        <Grid collection={collection} query={query} />
      ) : (
        <Unlisted collection={collection} />
      )
    if (name === 'data') return <ItemScreen collection={collection} itemKey={[]} />
    if (name === 'new' && collection.can.insert) return <NewItem collection={collection} />
    if (name === 'item' && key !== undefined)
      return <ItemScreen collection={collection} itemKey={key} />
  }
  return (
    <>
      <Heading title="Not found" />
      <Empty>
        <p>There is nothing here, or you may not see it.</p>
        <a href="#/">To the start</a>
      </Empty>
    </>
  )
}

/** The screen of a collection whose items the caller can't list. */
function Unlisted({ collection }: { readonly collection: Collection }): VNode {
  const { application, name, can } = collection
  return (
    <>
      <Heading title={name} above={application}>
        {can.insert && (
          <a class="button primary" href={hashOf(['new', application, name])}>
            New item
          </a>
        )}
      </Heading>
      <Empty>
        <p>You can't list the items of this collection.</p>
      </Empty>
    </>
  )
}

/** Returns the collections by application, without those of administration and deployment. */
function byApplication(collections: Collections): ReadonlyMap<string, readonly Collection[]> {
  const own = [...collections.values()].filter(
    ({ application }) =>
      application !== administration && application !== `${settings.brand}-deploy`,
  )
  const groups = new Map<string, Collection[]>()
  for (const collection of own) {
    const group = groups.get(collection.application)
    if (group === undefined) groups.set(collection.application, [collection])
    else group.push(collection)
  }
  return groups
}

function listedScreens(collections: Collections): readonly AdminScreen[] {
  return adminScreens.filter(
    ({ isListed, collection }) => isListed && collections.has(`${administration}/${collection}`),
  )
}

function Home({ collections }: { readonly collections: Collections }): VNode {
  const applications = [...byApplication(collections)]
  const screens = listedScreens(collections)
  return (
    <>
      <Heading title={settings.title} />
      {applications.length === 0 && screens.length === 0 && (
        <Empty>
          <p>
            You have no rights to any collection of this service. Ask an administrator for a role.
          </p>
        </Empty>
      )}
      {applications.map(([application, own]) => (
        <section class="cards" key={application} aria-labelledby={`cards-${application}`}>
          <h2 id={`cards-${application}`}>{application}</h2>
          <ul>
            {own.map((collection) => (
              <li key={collection.name}>
                <a class="card" href={hashOf(['data', application, collection.name])}>
                  <strong>{collection.name}</strong>
                  <span class="muted">{descriptionOf(collection)}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {screens.length > 0 && (
        <section class="cards" aria-labelledby="cards-administration">
          <h2 id="cards-administration">Administration</h2>
          <ul>
            {screens.map(({ name, title, about }) => (
              <li key={name}>
                <a class="card" href={hashOf([name])}>
                  <strong>{title}</strong>
                  <span class="muted">{about}</span>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function descriptionOf({ name, description, readable, listed }: Collection): string {
  if (description !== undefined && description !== `The collection ${name}.`) return description
  const count = Math.max(readable.size, listed.size)
  return count === 1 ? '1 field' : `${count} fields`
}

interface MenuOptions {
  readonly collections: Collections
  readonly isOpen: boolean
  readonly toggle: () => void
}

const minFiltered = 12

function Menu({ collections, isOpen, toggle }: MenuOptions): VNode {
  const [wanted, setWanted] = useState('')
  const { user } = session.use() ?? {}
  const { segments } = route.use()
  const screens = listedScreens(collections)
  const matches = (name: string) => name.toLowerCase().includes(wanted.toLowerCase())
  const here = segments.slice(0, 3).map((segment) => partsOf(segment).join(','))
  return (
    <nav class="menu" aria-label="Main">
      <div class="brand">
        <a href="#/">{settings.title}</a>
        <button type="button" class="menu-button" aria-expanded={isOpen} onClick={toggle}>
          Menu
        </button>
      </div>
      <div class="menu-body">
        {[...byApplication(collections).values()].flat().length > minFiltered && (
          <input
            type="search"
            class="menu-filter"
            aria-label="Find a collection"
            placeholder="Find a collection"
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        )}
        {[...byApplication(collections)].map(([application, own]) => (
          <MenuGroup key={application} title={application}>
            {own
              .filter(({ name }) => matches(name))
              .map(({ name }) => (
                <MenuLink
                  key={name}
                  segments={['data', application, name]}
                  isHere={here[0] !== '' && here[1] === application && here[2] === name}
                >
                  {name}
                </MenuLink>
              ))}
          </MenuGroup>
        ))}
        {screens.length > 0 && (
          <MenuGroup title="Administration">
            {screens.map(({ name, title }) => (
              <MenuLink key={name} segments={[name]} isHere={here[0] === name}>
                {title}
              </MenuLink>
            ))}
          </MenuGroup>
        )}
        <Account user={user} />
      </div>
    </nav>
  )
}

function Account({ user }: { readonly user: string | undefined }): VNode | null {
  const isSignedIn = Object.keys(session.use()?.headers ?? {}).length > 0
  if (!isSignedIn) return null
  return (
    <div class="account">
      {user !== undefined && <span class="user">{visible(user)}</span>}
      <button
        type="button"
        class="quiet"
        onClick={() => void mayLeave().then((isSure) => (isSure ? signOut() : undefined))}
      >
        Sign out
      </button>
    </div>
  )
}

function MenuGroup({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}): VNode {
  return (
    <section>
      <h2>{title}</h2>
      <ul>{children}</ul>
    </section>
  )
}

interface MenuLinkOptions {
  readonly segments: readonly string[]
  readonly isHere: boolean
  readonly children: ComponentChildren
}

function MenuLink({ segments, isHere, children }: MenuLinkOptions): VNode {
  return (
    <li>
      <a href={hashOf(segments)} aria-current={isHere ? 'page' : undefined}>
        {children}
      </a>
    </li>
  )
}
