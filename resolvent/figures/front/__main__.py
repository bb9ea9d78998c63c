from resolvent.figures.front.terminal import main

if __name__ == "__main__":
    main()
