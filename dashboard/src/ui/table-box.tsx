/** A table that may be wider than the window. It scrolls by itself, also with the keyboard. */
import type { ReactNode } from 'react'

export function TableBox({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className="table-box" aria-label={label} tabIndex={0}>
      <table className="table">{children}</table>
    </section>
  )
}
