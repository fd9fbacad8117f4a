import { writeFileSync } from 'node:fs'

/** The response that is read as tables. */
export interface Body {
  readonly data: readonly Order[]
  readonly next: string | null
}

interface Order {
  readonly orderId: string
  readonly placed: string
  readonly customer: {
    readonly name: string
    readonly address: { readonly city: string; readonly lines: readonly string[] }
  }
  readonly lines: readonly {
    readonly sku: string
    readonly quantity: number
    readonly price: string
    readonly tags: readonly string[]
  }[]
}

/** Writes a response of some megabytes, the same in each run. */
export function writeOrders(file: string, megabytes: number): void {
  const data: Order[] = []
  for (let bytes = 0, no = 0; bytes < megabytes * 1e6; no++) {
    const order = orderOf(no)
    bytes += JSON.stringify(order).length + 1
    data.push(order)
  }
  writeFileSync(file, JSON.stringify({ data, next: null } satisfies Body))
}

function orderOf(no: number): Order {
  const lines = Array.from({ length: 1 + (no % 7) }, (_, index) => ({
    sku: `sku-${(no * 7919 + index) % 1000}`,
    quantity: 1 + ((no + index) % 9),
    price: `${(no * 31 + index) % 500}.90`,
    tags: ['new', 'fragile', 'heavy'].slice(0, (no + index) % 4),
  }))
  return {
    orderId: `order-${no}`,
    placed: `2026-01-${String(1 + (no % 28)).padStart(2, '0')}T12:00:00Z`,
    customer: {
      name: `Customer ${no % 997} of the long street`,
      address: { city: ['Oslo', 'Bergen', 'Turku'][no % 3] ?? '', lines: [`Street ${no % 400}`] },
    },
    lines,
  }
}
