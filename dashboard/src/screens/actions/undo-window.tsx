/** A few seconds in which an action on many events has not begun, and can be taken back without a trace. */
import { useEffect, useRef, useState } from 'react'

const SECONDS = 5

export function UndoWindow({ onOver }: { readonly onOver: () => void }) {
  const [left, setLeft] = useState(SECONDS)
  const over = useRef(onOver)
  over.current = onOver
  useEffect(() => {
    const timer = setInterval(() => setLeft((seconds) => seconds - 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  useEffect(() => {
    if (left === 0) over.current()
  }, [left])
  return (
    <p role="status">
      Starts in <b>{Math.max(0, left)} s</b>. Nothing has been changed yet.
    </p>
  )
}
