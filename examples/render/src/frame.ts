// One frame of the film: a zoom into the Mandelbrot set, in letters. The same number gives the same frame on every machine.

const WIDTH = 64
const HEIGHT = 24
const SHADES = ' .:-=+*#%@'
const DEPTH_MAX = 120
const CENTRE = { x: -0.7436, y: 0.1318 }

export function renderFrame(frame: number): string {
  const span = 3 * 0.93 ** frame
  const lines: string[] = []
  for (let row = 0; row < HEIGHT; row++) {
    let line = ''
    for (let column = 0; column < WIDTH; column++) {
      const x = CENTRE.x + (column / WIDTH - 0.5) * span
      const y = CENTRE.y + (row / HEIGHT - 0.5) * span
      line += SHADES[depthAt(x, y) % SHADES.length] ?? ' '
    }
    lines.push(line)
  }
  return lines.join('\n')
}

function depthAt(x: number, y: number): number {
  let [real, imaginary] = [0, 0]
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const next = real * real - imaginary * imaginary + x
    imaginary = 2 * real * imaginary + y
    real = next
    if (real * real + imaginary * imaginary > 4) return depth
  }
  return 0
}
